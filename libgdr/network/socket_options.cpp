#include "libgdr/network/socket_options.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>

namespace gdr::network {
namespace {

/// Bytes that a socket accepts beyond those that it may send at once: those of some time at its
/// rate, where that is limited.
constexpr int min_not_sent = 16 << 10, max_not_sent = 256 << 10;
constexpr double seconds_not_sent = 0.02;

/// The last number of a file in /proc/sys; 0 if there is none.
std::uint64_t last_number(const char* path) {
  std::ifstream file(path);
  std::uint64_t n = 0, last = 0;
  while (file >> n) last = n;
  return last;
}

std::string refusal(const std::string& what) { return what + ": " + std::strerror(errno); }

bool get_info(int socket, tcp_info& info) {
  info = {};
  socklen_t size = sizeof(info);
  return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
}

}  // namespace

bool set_pacing(int socket, double bytes_per_second) {
  const auto rate = static_cast<std::uint64_t>(bytes_per_second);
  // Frames wait in the session, where any stream may take them, not in the buffer of a slow stream.
  const int not_sent = static_cast<int>(
      std::clamp(bytes_per_second * seconds_not_sent, double{min_not_sent}, double{max_not_sent}));
  setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &not_sent, sizeof(not_sent));
  return setsockopt(socket, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)) == 0;
}

WindowLimits window_limits() {
  // Set sizes are limited by core/*mem_max, and doubled by the system; sizes that it adapts by the
  // last number of ipv4/tcp_*mem.
  const auto limit = [](const char* adapted, const char* set) {
    return std::max(last_number(adapted) / 2, last_number(set));
  };
  return {limit("/proc/sys/net/ipv4/tcp_wmem", "/proc/sys/net/core/wmem_max"),
          limit("/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/core/rmem_max")};
}

std::string apply_settings(int socket, const StreamSettings& s) {
  std::string refused;
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &max_not_sent, sizeof(max_not_sent));
  if (s.window > 0) {
    // A set size ends the adaptation by the system, which may reach more: set only what it grants.
    const auto size = static_cast<int>(std::min<std::uint64_t>(s.window, INT_MAX / 2));
    const auto set = [&](int option, int forced, const char* adapted, const char* most) {
      const auto wanted = static_cast<std::uint64_t>(size);
      if (setsockopt(socket, SOL_SOCKET, forced, &size, sizeof(size)) == 0) return true;
      if (wanted <= last_number(adapted) / 2 || last_number(most) <= last_number(adapted) / 2)
        return false;
      return setsockopt(socket, SOL_SOCKET, option, &size, sizeof(size)) == 0;
    };
    set(SO_SNDBUF, SO_SNDBUFFORCE, "/proc/sys/net/ipv4/tcp_wmem", "/proc/sys/net/core/wmem_max");
    // On a connected socket the window also has a limit from the former size, which the system may
    // never raise again.
    const int clamp = 2 * size;
    if (set(SO_RCVBUF, SO_RCVBUFFORCE, "/proc/sys/net/ipv4/tcp_rmem",
            "/proc/sys/net/core/rmem_max"))
      setsockopt(socket, IPPROTO_TCP, TCP_WINDOW_CLAMP, &clamp, sizeof(clamp));
  }
  if (s.pacing > 0 && !set_pacing(socket, s.pacing)) refused = refusal("pacing");
  if (!s.congestion.empty() && setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, s.congestion.data(),
                                          static_cast<socklen_t>(s.congestion.size())) != 0)
    refused = refusal("congestion control " + s.congestion);
  return refused;
}

SocketState socket_state(int socket) {
  tcp_info info;
  if (!get_info(socket, info)) return {};
  const bool paced = info.tcpi_max_pacing_rate != ~std::uint64_t{0};
  return {info.tcpi_rtt * 1e-6, static_cast<double>(info.tcpi_delivery_rate),
          paced ? static_cast<double>(info.tcpi_max_pacing_rate) : 0, info.tcpi_total_retrans};
}

void DynamicPacing::update(int socket) {
  tcp_info info;
  if (!get_info(socket, info)) return;
  const auto measured = static_cast<double>(info.tcpi_delivery_rate);
  // The rate of a stream that had nothing to send says only that the path allows at least that.
  if (info.tcpi_delivery_rate_app_limited == 0 || measured > rate_)
    rates_[next_++ % samples] = measured;
  const double best = *std::max_element(std::begin(rates_), std::end(rates_));
  if (best <= 0) return;
  // Probes for more until packets are lost, then stays below the measured rate.
  const bool lost = info.tcpi_total_retrans > retransmitted_;
  retransmitted_ = info.tcpi_total_retrans;
  constexpr double probe = 1.25, drain = 0.9;
  rate_ = best * (lost ? drain : probe);
  set_pacing(socket, rate_);
}

}  // namespace gdr::network
