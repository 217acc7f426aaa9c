#include "kernels/compiler/schedule/dependences.hpp"

#include <algorithm>
#include <ranges>

namespace gdr::kc {
namespace {

/// Whether a dependence orders two operations of the same item, so that paths may follow it.
bool within_item(const DependenceGraph::Edge& e, std::size_t op) {
  return !e.next_item && e.latency >= 0 && e.op != op;
}

}  // namespace

void DependenceGraph::add(std::size_t first, std::size_t second, int latency, bool next_item) {
  before_[second].push_back({first, latency, next_item});
  after_[first].push_back({second, latency, next_item});
}

DependenceGraph::DependenceGraph(const Problem& problem, unsigned ii)
    : before_(problem.loop->ops.size()), after_(problem.loop->ops.size()) {
  const MachineLoop& loop = *problem.loop;
  const std::size_t count = loop.ops.size();
  const auto latency = static_cast<int>(problem.latency);
  for (const MachineValue& v : loop.values) {
    if (v.origin == Origin::Accumulator)
      // The address of a list's next entry is read before the next source advances it.
      for (const OpId u : v.uses) add(index(u), index(v.defs.front()), -static_cast<int>(ii));
    if (v.origin != Origin::Computed || v.defs.empty()) continue;
    for (std::size_t k = 1; k < v.defs.size(); ++k) add(index(v.defs[k - 1]), index(v.defs[k]), 1);
    for (const OpId u : v.uses) add(index(v.defs.back()), index(u), latency);
  }
  for (const MachineLoop::Dependence& d : loop.dependences)
    add(index(d.first), index(d.second), d.latency - (d.next_item ? static_cast<int>(ii) : 0),
        d.next_item);
  // A mask is read before the item after next (or the next one) sets it again.
  const int longest = static_cast<int>(ii * problem.unroll);
  for (const MachineMask& m : loop.masks)
    for (const OpId use : m.uses)
      if (use != m.defs.front()) add(index(use), index(m.defs.front()), -longest);

  order_ = topological_order(loop);
  position_.resize(count);
  for (std::size_t k = 0; k < count; ++k) position_[order_[k]] = k;
  earliest_.assign(count, 0);
  for (const std::size_t op : order_) {
    const bool reads_field = std::ranges::any_of(loop.ops[op].in, [&](const Ref& r) {
      return r.kind == Ref::Kind::Value && loop.value(r.value).origin == Origin::Field;
    });
    if (reads_field) earliest_[op] = std::max(earliest_[op], latency);
    for (const Edge& e : after_[op])
      if (within_item(e, op))
        earliest_[e.op] = std::max(earliest_[e.op], earliest_[op] + e.latency);
  }
  tail_.assign(count, 0);
  for (const std::size_t op : std::views::reverse(order_))
    for (const Edge& e : after_[op])
      if (within_item(e, op)) tail_[op] = std::max(tail_[op], tail_[e.op] + e.latency);
}

int DependenceGraph::longest_path(std::span<const OpId> first, std::span<const OpId> last) const {
  if (first.empty() || last.empty()) return none;
  const auto position = [&](OpId op) { return position_[index(op)]; };
  const std::size_t from = position(*std::ranges::min_element(first, {}, position));
  const std::size_t to = position(*std::ranges::max_element(last, {}, position));
  if (from > to) return none;
  // Backwards: the path from an operation to the nearest end extends those from its successors.
  std::vector<int> length(to - from + 1, none);
  for (const OpId op : last)
    if (position(op) >= from) length[position(op) - from] = 0;
  for (std::size_t k = to + 1; k-- > from;) {
    const std::size_t op = order_[k];
    for (const Edge& e : after_[op]) {
      if (!within_item(e, op) || position_[e.op] > to) continue;
      if (const int next = length[position_[e.op] - from]; next >= 0)
        length[k - from] = std::max(length[k - from], next + e.latency);
    }
  }
  int longest = none;
  for (const OpId op : first)
    if (position(op) <= to) longest = std::max(longest, length[position(op) - from]);
  return longest;
}

LongestPaths::LongestPaths(const DependenceGraph& graph)
    : count_(graph.order().size()), from_(count_ * count_, no_path), to_(count_ * count_, no_path) {
  // Backwards: the paths from an operation extend those from its successors.
  for (const std::size_t op : std::views::reverse(graph.order())) {
    std::int16_t* from = &from_[op * count_];
    from[op] = 0;
    for (const DependenceGraph::Edge& e : graph.after(op)) {
      if (!within_item(e, op)) continue;
      const std::int16_t* next = &from_[e.op * count_];
      for (std::size_t j = 0; j < count_; ++j)
        if (next[j] >= 0)
          from[j] = std::max(from[j], static_cast<std::int16_t>(next[j] + e.latency));
    }
    for (std::size_t j = 0; j < count_; ++j) to_[j * count_ + op] = from[j];
  }
}

}  // namespace gdr::kc
