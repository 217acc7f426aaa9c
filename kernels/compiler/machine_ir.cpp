#include "kernels/compiler/machine_ir.hpp"

#include <functional>

namespace gdr::kc {

std::vector<std::size_t> topological_order(const MachineLoop& loop) {
  const std::size_t n = loop.ops.size();
  std::vector<std::vector<std::size_t>> before(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (const Ref& r : loop.ops[i].in) {
      if (r.kind != Ref::Kind::Value) continue;
      const MachineValue& v = loop.value(r.value);
      if (v.origin == Origin::Accumulator) continue;
      for (const OpId d : v.defs) before[i].push_back(static_cast<std::size_t>(d));
    }
  }
  for (const MachineValue& v : loop.values)
    for (std::size_t k = 1; k < v.defs.size(); ++k)
      before[static_cast<std::size_t>(v.defs[k])].push_back(
          static_cast<std::size_t>(v.defs[k - 1]));
  for (const MachineLoop::Dependence& o : loop.dependences)
    before[static_cast<std::size_t>(o.second)].push_back(static_cast<std::size_t>(o.first));

  std::vector<std::size_t> order;
  std::vector<char> state(n, 0);
  std::vector<std::pair<std::size_t, std::size_t>>
      stack;  // operation, number of processed predecessors
  for (std::size_t root = 0; root < n; ++root) {
    if (state[root] != 0) continue;
    stack.emplace_back(root, 0);
    state[root] = 1;
    while (!stack.empty()) {
      auto& [op, next] = stack.back();
      if (next < before[op].size()) {
        const std::size_t needed = before[op][next++];
        if (state[needed] == 0) {
          state[needed] = 1;
          stack.emplace_back(needed, 0);
        }
      } else {
        order.push_back(op);
        stack.pop_back();
      }
    }
  }
  return order;
}

}  // namespace gdr::kc
