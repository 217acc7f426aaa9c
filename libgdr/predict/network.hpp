// What messages between nodes cost: a latency each, and their bytes at the bandwidth of a node. No
// two nodes share a wire: what a fat tree or one large switch gives.
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

  /// Rounds in which one of `nodes` reaches all: log2, rounded up.
  static double rounds(std::size_t nodes) noexcept {
    return nodes <= 1 ? 0 : static_cast<double>(std::bit_width(nodes - 1));
  }
  double message(double bytes) const noexcept { return latency_ + bytes / bandwidth_; }
  /// Every node of a group gets the combination of all; short messages.
  double all_reduce(std::size_t nodes, double bytes) const noexcept {
    return rounds(nodes) * message(bytes);
  }
  /// Every node gets the parts of all others, `bytes` in all.
  double all_gather(std::size_t nodes, double bytes) const noexcept {
    if (nodes <= 1) return 0;
    const auto count = static_cast<double>(nodes);
    return rounds(nodes) * latency_ + bytes * (count - 1) / count / bandwidth_;
  }
  /// Every node gets its part of the sum of `bytes` that each has.
  double reduce_scatter(std::size_t nodes, double bytes) const noexcept {
    return all_gather(nodes, bytes);
  }
  /// A long message after `hops` steps along a ring, passed on segment by segment.
  double ring(std::size_t hops, double bytes) const noexcept {
    if (hops == 0) return 0;
    const double first = bytes < segment_ ? bytes : segment_;
    return message(bytes) + static_cast<double>(hops - 1) * message(first);
  }
  /// HPL's exchange of rows and way of the upper blocks along a column of the grid, `bytes` being
  /// those of the upper blocks: three times as many in all, in log2 P + P messages.
  double exchange_rows(std::size_t nodes, double bytes) const noexcept {
    if (nodes <= 1) return 0;
    return (rounds(nodes) + static_cast<double>(nodes)) * latency_ + 3 * bytes / bandwidth_;
  }

 private:
  double bandwidth_, latency_, segment_;
};

}  // namespace gdr::predict
