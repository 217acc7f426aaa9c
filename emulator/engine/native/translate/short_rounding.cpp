#include "emulator/engine/native/translate/short_rounding.hpp"

#include <bit>
#include <vector>

namespace gdr::native {
namespace {

/// Whether a value is a short for all uses. A long that is also stored as a short is not.
bool is_short(const Node& node) {
  switch (node.op) {
    case NodeOp::Add:
    case NodeOp::Sub:
    case NodeOp::Mul:
      return node.detail == short_result;
    case NodeOp::Rsqrt:
    case NodeOp::Recip:
      return node.detail == static_cast<std::uint8_t>(Accuracy::Short);
    case NodeOp::Input:
      return LeafKey::unpack(node.bits).type == WordType::Short;
    default:
      return false;
  }
}

/// Marks the shorts that a reference denotes, through selects, if they or a select on the way are
/// used more than once. A short with a single use is rounded when it is stored.
void mark_shorts(const Graph& g, Ref r, const std::vector<unsigned>& uses, bool shared,
                 std::vector<bool>& marked) {
  const Node& node = g[r];
  shared = shared || uses[node_of(r)] > 1;
  if (node.op == NodeOp::Select) {
    mark_shorts(g, node.b, uses, shared, marked);
    mark_shorts(g, node.c, uses, shared, marked);
  } else if (shared && is_short(node)) {
    marked[node_of(r)] = true;
  }
}

/// Whether a value that a reference may denote is a sum with this constant.
bool is_sum_with(const Graph& g, Ref r, Ref constant) {
  const Node& node = g[r];
  if (node.op == NodeOp::Select) {
    return is_sum_with(g, node.b, constant) || is_sum_with(g, node.c, constant);
  }
  return is_sum(node.op) && (node.a == constant || node.b == constant);
}

}  // namespace

void drop_left_stores(Segment& segment) {
  std::erase_if(segment.stores, [](const Store& s) { return s.area == Store::Area::Left; });
}

Segment round_outputs(const Segment& segment) {
  const Graph& old = segment.graph;
  const std::vector<unsigned> uses = use_counts(segment);
  std::vector<bool> left(old.size(), false);
  for (const Store& store : segment.stores) {
    if (!store.read_by_section || store.type != WordType::Short) continue;
    mark_shorts(old, store.value, uses, false, left);
  }
  Segment made = copied(segment, [&](Graph& g, Ref r, const NodeMap& copy) {
    if (!left[node_of(r)]) return no_ref;
    const Node& node = old[r];
    return g.op(NodeOp::Round, Kind::Number,
                g.rebuilt(node, copy(node.a), copy(node.b), copy(node.c)));
  });
  drop_left_stores(made);
  return cleaned(made);
}

Segment without_conversions(const Segment& s) {
  return rewritten(s, [&](Graph&, Ref r, const NodeMap& copy) {
    const Node& node = s.graph[r];
    return node.op == NodeOp::Round && node.detail == short_result ? copy(node.a) : no_ref;
  });
}

Kernel round_loop_sums(const Kernel& kernel) {
  const Graph& old = kernel.graph;
  std::vector<Ref> next(kernel.inputs.size(), no_ref);
  for (const KernelCarried& c : kernel.carried) {
    if (kernel.inputs[c.slot] == WordType::Short) next[c.slot] = c.next;
  }
  return rewritten(kernel, [&](Graph& g, Ref r, const NodeMap& copy) {
    const Node& node = old[r];
    if (!is_sum(node.op)) return no_ref;
    const auto operand = [&](Ref x, Ref other) {
      const bool is_zero = old.is_constant(other) && std::bit_cast<double>(old[other].bits) == 0.0;
      if (old[x].op != NodeOp::Input || !old.is_constant(other) || is_zero) return copy(x);
      const Ref before = next[LeafKey::unpack(old[x].bits).place];
      if (before == no_ref || !is_sum_with(old, before, other)) return copy(x);
      return g.op(NodeOp::Round, Kind::Number, copy(x));
    };
    const Ref a = operand(node.a, node.b);
    return g.rebuilt(node, a, operand(node.b, node.a), no_ref);
  });
}

}  // namespace gdr::native
