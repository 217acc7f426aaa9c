// Times of messages between nodes: a latency each, and their bytes at the bandwidth of a node. No
// two nodes share a wire, as with a fat tree or one large switch.
#pragma once

#include <bit>
#include <cstddef>

#include "libgdr/predict/machine.hpp"

namespace gdr::predict {

class Network {
 public:
  explicit Network(const Machine& machine)
      : bandwidth_(machine[Key::NetworkBandwidth]),
        latency_(machine[Key::NetworkLatency]),
        segment_(machine[Key::NetworkSegment]) {}

  double bandwidth() const noexcept { return bandwidth_; }

  /// Rounds of a broadcast to `nodes` nodes: log2, rounded up.
  static double rounds(std::size_t nodes) noexcept {
    return nodes <= 1 ? 0 : static_cast<double>(std::bit_width(nodes - 1));
  }
  double message(double bytes) const noexcept { return latency_ + bytes / bandwidth_; }
  /// Reduction to all nodes of a group, with short messages.
  double all_reduce(std::size_t nodes, double bytes) const noexcept {
    return rounds(nodes) * message(bytes);
  }
  /// Every node receives the parts of all others, `bytes` in total; or, in a reduction with
  /// scatter, its part of the sum of the `bytes` of each node.
  double all_gather(std::size_t nodes, double bytes) const noexcept {
    if (nodes <= 1) return 0;
    const auto count = static_cast<double>(nodes);
    return rounds(nodes) * latency_ + bytes * (count - 1) / count / bandwidth_;
  }
  /// A long message over `hops` hops of a ring, forwarded segment by segment.
  double ring(std::size_t hops, double bytes) const noexcept {
    if (hops == 0) return 0;
    const double first = bytes < segment_ ? bytes : segment_;
    return message(bytes) + static_cast<double>(hops - 1) * message(first);
  }
  /// HPL's exchange of rows and broadcast of the upper blocks along a grid column: three times the
  /// `bytes` of the upper blocks, in log2 P + P messages.
  double exchange_rows(std::size_t nodes, double bytes) const noexcept {
    if (nodes <= 1) return 0;
    return (rounds(nodes) + static_cast<double>(nodes)) * latency_ + 3 * bytes / bandwidth_;
  }

 private:
  double bandwidth_, latency_, segment_;
};

}  // namespace gdr::predict
