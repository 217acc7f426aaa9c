#include "emulator/engine/native/loop_copy.hpp"

namespace gdr::native {

LoopCopy::LoopCopy(const Kernel& kernel) : delayed(kernel.carried.size()), k_(kernel) {
  for (std::size_t c = 0; c < k_.carried.size(); ++c) carried_of_[k_.carried[c].slot] = c;
}

std::size_t LoopCopy::carried(const Node& node) const {
  if (node.op != NodeOp::Input) return none;
  const auto found = carried_of_.find(LeafKey::unpack(node.bits).place);
  return found == carried_of_.end() ? none : found->second;
}

std::vector<bool> LoopCopy::depends_on_carried() const {
  const Graph& g = graph();
  std::vector<bool> depends(g.size(), false);
  for (std::uint32_t n = 0; n < g.size(); ++n) {
    const Node& node = g[ref_to(n)];
    depends[n] = carried(node) != none;
    for (const Ref r : {node.a, node.b, node.c}) {
      if (r != no_ref) depends[n] = depends[n] || depends[node_of(r)];
    }
  }
  return depends;
}

Ref LoopCopy::copy(Graph& to, Ref r, bool through, std::uint32_t delay, Made& made) const {
  const std::pair<Ref, std::uint32_t> key{ref_to(node_of(r)), delay};
  if (const auto found = made.find(key); found != made.end()) return found->second ^ (r & 1);
  const Node& node = graph()[r];
  const std::size_t c = carried(node);
  Ref result = no_ref;
  if (through && c != none && delayed[c]) {
    result = copy(to, k_.carried[c].next, through, delay + 1, made);
  } else if (node.op == NodeOp::Source) {
    LeafKey leaf = LeafKey::unpack(node.bits);
    leaf.delay = delay;
    result = to.leaf(NodeOp::Source, leaf);
  } else {
    const auto operand = [&](Ref x) { return x == no_ref ? x : copy(to, x, through, delay, made); };
    const Ref a = operand(node.a);
    const Ref b = operand(node.b);
    result = to.rebuilt(node, a, b, operand(node.c));
  }
  made.emplace(key, result);
  return result ^ (r & 1);
}

Store carried_store(const Kernel& kernel, std::size_t c, Ref value) {
  return {Store::Area::Carried, static_cast<std::uint32_t>(c),
          kernel.inputs[kernel.carried[c].slot], value, false};
}

}  // namespace gdr::native
