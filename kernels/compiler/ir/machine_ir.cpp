#include "kernels/compiler/ir/machine_ir.hpp"

#include <algorithm>
#include <numeric>

#include "emulator/isa/table.hpp"

namespace gdr::kc {

std::uint8_t MachineOp::slot() const noexcept {
  const Unit unit = info(op).unit;
  return unit == Unit::Multiplier ? 0 : unit == Unit::Transfer ? 2 : 1;
}

unsigned MachineLoop::local_end() const noexcept {
  unsigned end = 0;
  for (const MachineTable& t : tables) end = std::max(end, t.end());
  for (const MachineList& l : lists) end = std::max(end, l.end());
  return end;
}

std::vector<std::size_t> topological_order(const MachineLoop& loop) {
  const std::size_t n = loop.ops.size();
  // The predecessors of operation i are before[start[i]] up to before[start[i + 1]].
  std::vector<std::size_t> start(n + 1, 0), before;
  const auto for_edges = [&](const auto& visit) {
    for (std::size_t i = 0; i < n; ++i) {
      for (const Ref& r : loop.ops[i].in) {
        if (r.kind != Ref::Kind::Value) continue;
        const MachineValue& v = loop.value(r.value);
        if (v.origin == Origin::Accumulator) continue;
        for (const OpId d : v.defs) visit(i, index(d));
      }
    }
    for (const MachineValue& v : loop.values)
      for (std::size_t k = 1; k < v.defs.size(); ++k) visit(index(v.defs[k]), index(v.defs[k - 1]));
    for (const MachineLoop::Dependence& o : loop.dependences)
      if (!o.next_item) visit(index(o.second), index(o.first));
  };
  for_edges([&](std::size_t op, std::size_t) { ++start[op + 1]; });
  std::partial_sum(start.begin(), start.end(), start.begin());
  before.resize(start[n]);
  std::vector<std::size_t> end(start.begin(), start.end() - 1);
  for_edges([&](std::size_t op, std::size_t predecessor) { before[end[op]++] = predecessor; });

  std::vector<std::size_t> order;
  std::vector<bool> reached(n, false);
  // Operations with the position of the next predecessor in `before`.
  std::vector<std::pair<std::size_t, std::size_t>> stack;
  const auto visit = [&](std::size_t op) {
    if (!reached[op]) stack.emplace_back(op, start[op]);
    reached[op] = true;
  };
  for (std::size_t root = 0; root < n; ++root) {
    visit(root);
    while (!stack.empty()) {
      auto& [op, next] = stack.back();
      if (next < start[op + 1]) {
        visit(before[next++]);
      } else {
        order.push_back(op);
        stack.pop_back();
      }
    }
  }
  return order;
}

void reorder(MachineLoop& loop, const std::vector<OpId>& order) {
  std::vector<MachineOp> ops;
  ops.reserve(order.size());
  std::vector<OpId> position(order.size());
  for (const OpId o : order) {
    position[index(o)] = static_cast<OpId>(ops.size());
    ops.push_back(std::move(loop.op(o)));
  }
  loop.ops = std::move(ops);
  const auto renumber = [&](OpId& o) { o = position[index(o)]; };
  for (MachineValue& v : loop.values)
    for (std::vector<OpId>* ids : {&v.defs, &v.uses}) std::ranges::for_each(*ids, renumber);
  for (MachineMask& m : loop.masks)
    for (std::vector<OpId>* ids : {&m.defs, &m.uses}) std::ranges::for_each(*ids, renumber);
  for (MachineLoop::Dependence& d : loop.dependences) {
    renumber(d.first);
    renumber(d.second);
  }
}

}  // namespace gdr::kc
