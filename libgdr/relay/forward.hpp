// The loop that moves packets between the two TUN devices and the router.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libgdr/relay/capture.hpp"
#include "libgdr/relay/namespaces.hpp"
#include "libgdr/relay/router.hpp"

namespace gdr::relay {

/// Moves packets in steps of a given time. The router gets the time at which a packet was read.
class Forwarder {
 public:
  /// Keeps references. `wake` is a file that ends a wait when it can be read.
  Forwarder(Router& router, const HostNamespace& client, const HostNamespace& server, int wake,
            Time step);

  /// Moves everything that is due, and waits for more: at most until `deadline`, at least a step if
  /// there was anything.
  void step(Time deadline);
  Time now() const;
  /// Delivered packets are written to a file from now on; keeps a reference.
  void capture_to(Capture& capture) noexcept { capture_ = &capture; }

  /// Longest time by which a packet was delivered later than the model's result.
  Time latest() const noexcept { return latest_; }
  /// Packets that the kernel did not accept from the relay.
  std::uint64_t refused() const noexcept { return refused_; }

 private:
  bool read_packets(Direction direction);
  bool write_packets();

  Router& router_;
  int readable_[2];  // devices by the direction of packets read from them
  int wake_;
  Time step_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<std::byte> buffer_;
  Capture* capture_ = nullptr;
  Time latest_{};
  std::uint64_t refused_ = 0;
};

}  // namespace gdr::relay
