#include "kernels/compiler/machine_ir.hpp"

#include <algorithm>

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
  std::vector<std::vector<std::size_t>> before(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (const Ref& r : loop.ops[i].in) {
      if (r.kind != Ref::Kind::Value) continue;
      const MachineValue& v = loop.value(r.value);
      if (v.origin == Origin::Accumulator) continue;
      for (const OpId d : v.defs) before[i].push_back(index(d));
    }
  }
  for (const MachineValue& v : loop.values)
    for (std::size_t k = 1; k < v.defs.size(); ++k)
      before[index(v.defs[k])].push_back(index(v.defs[k - 1]));
  for (const MachineLoop::Dependence& o : loop.dependences)
    before[index(o.second)].push_back(index(o.first));

  std::vector<std::size_t> order;
  std::vector<bool> reached(n, false);
  // Operations with the number of processed predecessors.
  std::vector<std::pair<std::size_t, std::size_t>> stack;
  const auto visit = [&](std::size_t op) {
    if (!reached[op]) stack.emplace_back(op, 0);
    reached[op] = true;
  };
  for (std::size_t root = 0; root < n; ++root) {
    visit(root);
    while (!stack.empty()) {
      auto& [op, next] = stack.back();
      if (next < before[op].size()) {
        visit(before[op][next++]);
      } else {
        order.push_back(op);
        stack.pop_back();
      }
    }
  }
  return order;
}

}  // namespace gdr::kc
