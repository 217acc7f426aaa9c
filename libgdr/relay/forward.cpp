#include "libgdr/relay/forward.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

namespace gdr::relay {
namespace {

/// Packets read from one device before the other one, and the deliveries, have their turn.
constexpr int batch = 256;

constexpr std::size_t largest_packet = 65536;

}  // namespace

Forwarder::Forwarder(Router& router, const HostNamespace& client, const HostNamespace& server,
                     int wake, Time step)
    : router_(router),
      readable_{client.tun.descriptor(), server.tun.descriptor()},
      wake_(wake),
      step_(step),
      buffer_(largest_packet) {}

Time Forwarder::now() const { return std::chrono::steady_clock::now() - start_; }

bool Forwarder::read_packets(Direction direction) {
  for (int k = 0; k < batch; ++k) {
    const ssize_t size = ::read(readable_[index_of(direction)], buffer_.data(), buffer_.size());
    if (size <= 0) return k > 0;  // nothing is waiting
    router_.receive(direction, std::span(buffer_).first(static_cast<std::size_t>(size)), now());
  }
  return true;
}

bool Forwarder::write_packets() {
  bool any = false;
  const Time time = now();
  if (const std::optional<Time> due = router_.next_event(); due && *due > Time::zero())
    latest_ = std::max(latest_, time - *due);
  while (const std::optional<Arrival> arrival = router_.next(time)) {
    const std::vector<std::byte>& bytes = arrival->packet.bytes;
    const int device = readable_[index_of(opposite(arrival->direction))];
    if (::write(device, bytes.data(), bytes.size()) < 0)
      ++refused_;
    else if (capture_)
      capture_->write(arrival->direction, bytes, time);
    any = true;
  }
  return any;
}

void Forwarder::step(Time deadline) {
  bool any = read_packets(Direction::ToServer);
  any |= read_packets(Direction::ToClient);
  any |= write_packets();
  if (any) {
    std::this_thread::sleep_for(step_);
    return;
  }
  const Time next = std::min(deadline, router_.next_event().value_or(deadline));
  const Time wait = std::max(next - now(), Time::zero());
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
  const timespec limit{seconds.count(), (wait - seconds).count()};
  pollfd files[] = {{readable_[0], POLLIN, 0}, {readable_[1], POLLIN, 0}, {wake_, POLLIN, 0}};
  ::ppoll(files, 3, &limit, nullptr);
}

}  // namespace gdr::relay
