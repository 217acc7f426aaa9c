// Dependences between the operations of an item, and the longest paths along them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/compiler/schedule/schedule.hpp"

namespace gdr::kc {

/// Dependences by operation: reads of computed values, the order of several writes of a value,
/// explicit ones, and those around the back edge (with a negative latency). Reads of fields are
/// left out, because their loads and latencies depend on the storage class.
class DependenceGraph {
 public:
  struct Edge {
    std::size_t op;  ///< the other operation
    int latency;     ///< instructions from the first to the second operation
    /// Explicit, of the second operation for the next item; `latency` is less by the interval.
    bool next_item;
  };
  /// `ii` bounds the distance around the back edge.
  DependenceGraph(const Problem& problem, unsigned ii);

  const std::vector<Edge>& before(std::size_t op) const { return before_[op]; }
  const std::vector<Edge>& after(std::size_t op) const { return after_[op]; }
  /// Instructions on the longest path from one of the first operations to one of the last, through
  /// operations of an item that depend on each other; negative if there is none. Visits
  /// the operations between them once.
  int longest_path(std::span<const OpId> first, std::span<const OpId> last) const;
  /// Earliest issue time, from the start of the item.
  int earliest(std::size_t op) const { return earliest_[op]; }
  /// Instructions on the longest path to the last operation that depends on this one.
  int tail(std::size_t op) const { return tail_[op]; }
  /// Operations in topological order.
  const std::vector<std::size_t>& order() const noexcept { return order_; }

 private:
  void add(std::size_t first, std::size_t second, int latency, bool next_item = false);

  std::vector<std::vector<Edge>> before_, after_;
  std::vector<std::size_t> order_, position_;  ///< position of each operation in the order
  std::vector<int> earliest_, tail_;
};

/// The longest paths between all operations of an item. Time and memory grow with the square of
/// their number.
class LongestPaths {
 public:
  explicit LongestPaths(const DependenceGraph& graph);

  /// Instructions on the longest paths from an operation to all others, and from all others to it;
  /// `no_path` where there is none.
  std::span<const std::int16_t> from(std::size_t op) const { return {&from_[op * count_], count_}; }
  std::span<const std::int16_t> to(std::size_t op) const { return {&to_[op * count_], count_}; }
  static constexpr std::int16_t no_path = -10000;

 private:
  std::size_t count_;
  std::vector<std::int16_t> from_, to_;
};

}  // namespace gdr::kc
