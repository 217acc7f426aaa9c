#include "libgdr/relay/namespaces.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "emulator/host/parse_number.hpp"

namespace gdr::relay {
namespace {

constexpr const char* device = "link0";

/// The system does not permit a namespace with a TUN device.
[[noreturn]] void unsupported(const std::string& what) {
  system_error(what, ErrorCategory::Unsupported);
}

/// Writes a text to a file of the kernel in one call.
bool write_file(const std::string& path, const std::string& text) {
  const File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.descriptor() >= 0 &&
         ::write(file.descriptor(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

void set_sysctl(const std::string& name, const std::string& value) {
  if (!name.starts_with("net.") || name.find('/') != std::string::npos)
    throw Error(ErrorCategory::Usage,
                fmt::format("--sysctl {}: only settings below net. belong to a namespace", name));
  std::string path = "/proc/sys/" + name;
  std::replace(path.begin(), path.end(), '.', '/');
  if (!write_file(path, value + "\n"))
    throw Error(
        ErrorCategory::Usage,
        fmt::format("--sysctl {}={}: {}; the file is {}. A network namespace has fewer settings "
                    "than the system, and permits only congestion control algorithms in "
                    "net.ipv4.tcp_allowed_congestion_control of the system",
                    name, value, std::strerror(errno), path));
}

ifreq request_for(const char* name) {
  ifreq request{};
  std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
  return request;
}

void call(const File& socket, unsigned long code, ifreq& request, const char* what) {
  if (::ioctl(socket.descriptor(), code, &request) != 0)
    unsupported(fmt::format("cannot {} the device {}", what, request.ifr_name));
}

void set_address(const File& socket, unsigned long code, const std::string& text) {
  ifreq request = request_for(device);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  std::memcpy(&request.ifr_addr, &address, sizeof(address));
  call(socket, code, request, "set the address of");
}

void set_up(const File& socket, const char* name) {
  ifreq request = request_for(name);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  call(socket, SIOCSIFFLAGS, request, "activate");
}

/// Sets the device's queue with a message: the ioctl for it is for root of the system only.
void set_device_queue(std::uint32_t packets) {
  struct {
    nlmsghdr header{};
    ifinfomsg link{};
    rtattr attribute{};
    std::uint32_t packets = 0;
  } request;
  request.header.nlmsg_len = sizeof(request);
  request.header.nlmsg_type = RTM_NEWLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  request.link.ifi_family = AF_UNSPEC;
  request.link.ifi_index = static_cast<int>(::if_nametoindex(device));
  request.attribute.rta_len = RTA_LENGTH(sizeof(packets));
  request.attribute.rta_type = IFLA_TXQLEN;
  request.packets = packets;
  struct {
    nlmsghdr header;
    nlmsgerr result;
  } answer{};
  const File socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (socket.descriptor() < 0 || ::send(socket.descriptor(), &request, sizeof(request), 0) < 0 ||
      ::recv(socket.descriptor(), &answer, sizeof(answer), 0) <
          static_cast<ssize_t>(sizeof(answer.header) + sizeof(answer.result.error)))
    unsupported("cannot set the queue of the TUN device");
  errno = -answer.result.error;
  if (errno != 0) unsupported("cannot set the queue of the TUN device");
}

File open_tun() {
  File tun(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (tun.descriptor() < 0) unsupported("cannot open /dev/net/tun");
  ifreq request = request_for(device);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  if (::ioctl(tun.descriptor(), TUNSETIFF, &request) != 0)
    unsupported("cannot create a TUN device");
  return tun;
}

}  // namespace

void enter_user_namespace() {
  // A network namespace that is left at once shows whether the process has the right.
  if (::unshare(CLONE_NEWNET) == 0) return;
  const auto user = ::geteuid(), group = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0) unsupported("cannot create a user namespace");
  if (!write_file("/proc/self/setgroups", "deny") ||
      !write_file("/proc/self/uid_map", fmt::format("0 {} 1", user)) ||
      !write_file("/proc/self/gid_map", fmt::format("0 {} 1", group)))
    unsupported("cannot become root of a user namespace");
}

HostNamespace create_namespace(const std::string& address, const NamespaceOptions& options) {
  if (::unshare(CLONE_NEWNET) != 0) unsupported("cannot create a network namespace");
  HostNamespace host{File(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)), open_tun()};
  if (host.network.descriptor() < 0) unsupported("cannot open /proc/self/ns/net");
  const File socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket.descriptor() < 0) unsupported("cannot create a socket");
  set_up(socket, "lo");
  ifreq request = request_for(device);
  request.ifr_mtu = options.mtu;
  call(socket, SIOCSIFMTU, request, "set the MTU of");
  set_device_queue(options.device_queue);
  // No packets of IPv6, which would only be ignored. The file is missing in a kernel without it.
  write_file(fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", device), "1");
  set_address(socket, SIOCSIFADDR, address);
  set_address(socket, SIOCSIFNETMASK, "255.255.255.0");
  set_up(socket, device);
  for (const auto& [name, value] : options.sysctls) set_sysctl(name, value);
  return host;
}

void enter(const HostNamespace& host) {
  if (::setns(host.network.descriptor(), CLONE_NEWNET) != 0)
    system_error("cannot enter a network namespace");
}

std::uint64_t dropped_by_device(const HostNamespace& host) {
  enter(host);
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) system_error("cannot read the statistics of the TUN device");
  std::uint64_t dropped = 0;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const bool packets = entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == AF_PACKET;
    if (!packets || std::string(entry->ifa_name) != device || entry->ifa_data == nullptr) continue;
    rtnl_link_stats statistics;
    std::memcpy(&statistics, entry->ifa_data, sizeof(statistics));
    dropped = statistics.tx_dropped;
  }
  ::freeifaddrs(list);
  return dropped;
}

bool listens(int port) {
  for (const char* path : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);  // the heading
    while (std::getline(file, line)) {
      // "  0: 0200000A:1388 00000000:0000 0A ...": local address, remote address, state.
      std::istringstream fields(line);
      std::string number, local, remote, state;
      fields >> number >> local >> remote >> state;
      const std::size_t colon = local.find(':');
      if (state != "0A" || colon == std::string::npos) continue;
      if (port == 0 || parse_all<int>(std::string_view(local).substr(colon + 1), 16) == port)
        return true;
    }
  }
  return false;
}

}  // namespace gdr::relay
