#include "kernels/compiler/schedule/dependences.hpp"

#include <algorithm>

namespace gdr::kc {

void DependenceGraph::add(std::size_t first, std::size_t second, int latency) {
  before_[second].push_back({first, latency});
  after_[first].push_back({second, latency});
}

DependenceGraph::DependenceGraph(const Problem& problem, unsigned ii)
    : count_(problem.loop->ops.size()), before_(count_), after_(count_) {
  const MachineLoop& loop = *problem.loop;
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
    add(index(d.first), index(d.second), d.latency);
  // A mask is read before the item after next (or the next one) sets it again.
  const int longest = static_cast<int>(ii * problem.unroll);
  for (const MachineMask& m : loop.masks)
    for (const OpId use : m.uses)
      if (use != m.defs.front()) add(index(use), index(m.defs.front()), -longest);

  order_ = topological_order(loop);
  paths_from_.assign(count_ * count_, no_path);
  paths_to_.assign(count_ * count_, no_path);
  // Backwards: the paths from an operation extend those from its successors.
  for (std::size_t k = count_; k-- > 0;) {
    const std::size_t op = order_[k];
    std::int16_t* from = &paths_from_[op * count_];
    from[op] = 0;
    for (const Edge& e : after_[op]) {
      if (e.latency < 0 || e.op == op) continue;
      const std::int16_t* next = &paths_from_[e.op * count_];
      for (std::size_t j = 0; j < count_; ++j)
        if (next[j] >= 0)
          from[j] = std::max(from[j], static_cast<std::int16_t>(next[j] + e.latency));
    }
    for (std::size_t j = 0; j < count_; ++j) paths_to_[j * count_ + op] = from[j];
  }
  earliest_.assign(count_, 0);
  tail_.assign(count_, 0);
  for (std::size_t i = 0; i < count_; ++i) {
    const bool reads_field = std::ranges::any_of(loop.ops[i].in, [&](const Ref& r) {
      return r.kind == Ref::Kind::Value && loop.value(r.value).origin == Origin::Field;
    });
    const int own = reads_field ? latency : 0;
    for (std::size_t j = 0; j < count_; ++j) {
      const int length = path(i, j);
      if (length < 0) continue;
      earliest_[j] = std::max(earliest_[j], own + length);
      tail_[i] = std::max(tail_[i], length);
    }
  }
}

}  // namespace gdr::kc
