#include "emulator/engine/native/short_rounding.hpp"

#include <vector>

namespace gdr::native {
namespace {

/// Whether a value is a short for all uses. (A long that is also stored as a short stays a long for
/// others.)
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
      return LeafKey::unpack(node.bits).take == Take::Short;
    default:
      return false;
  }
}

/// Marks the shorts that a reference may stand for, on both sides of a select, if they or the
/// select are used more than once: one that nothing else is made of is rounded when it is stored.
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
  const bool sum = node.op == NodeOp::Add || node.op == NodeOp::Sub;
  return sum && (node.a == constant || node.b == constant);
}

}  // namespace

Segment round_outputs(const Segment& segment) {
  const Graph& old = segment.graph;
  const std::vector<unsigned> uses = use_counts(segment);
  std::vector<bool> left(old.size(), false);
  for (const Store& store : segment.stores) {
    if (!store.read_by_section || store.take != Take::Short) continue;
    mark_shorts(old, store.value, uses, false, left);
  }
  return cleaned(drop_left_stores(rewritten(segment, [&](Graph& g, Ref r, const auto& copy) {
    const Node& node = old[r];
    const Ref made = g.rebuilt(node, copy(node.a), copy(node.b), copy(node.c));
    if (!left[node_of(r)]) return made;
    return g.op(NodeOp::Round, Kind::Number, made);
  })));
}

Segment drop_left_stores(Segment segment) {
  std::erase_if(segment.stores, [](const Store& s) { return s.area == Store::Area::Left; });
  return segment;
}

Kernel round_loop_sums(const Kernel& kernel) {
  const Graph& old = kernel.graph;
  std::vector<Ref> next(kernel.inputs.size(), no_ref);
  for (const KernelCarried& c : kernel.carried) {
    if (kernel.inputs[c.slot] == Take::Short) next[c.slot] = c.next;
  }
  Kernel made = kernel;
  made.graph = Graph();
  std::vector<Ref> to(old.size(), no_ref);
  const auto copy = [&](Ref r) { return r == no_ref ? r : to[node_of(r)] ^ (r & 1); };
  for (std::uint32_t n = 0; n < old.size(); ++n) {
    const Node& node = old[ref_to(n)];
    const bool sum = node.op == NodeOp::Add || node.op == NodeOp::Sub;
    const auto operand = [&](Ref r, Ref other) {
      const bool read_by_section = sum && old[r].op == NodeOp::Input && old.is_constant(other);
      if (!read_by_section) return copy(r);
      const Ref before = next[LeafKey::unpack(old[r].bits).place];
      if (before == no_ref || !is_sum_with(old, before, other)) return copy(r);
      return made.graph.op(NodeOp::Round, Kind::Number, copy(r));
    };
    const Ref a = sum ? operand(node.a, node.b) : copy(node.a);
    const Ref b = sum ? operand(node.b, node.a) : copy(node.b);
    to[n] = made.graph.rebuilt(node, a, b, copy(node.c));
  }
  for (KernelOutput& output : made.outputs) output.value = copy(output.value);
  for (KernelCarried& carried : made.carried) carried.next = copy(carried.next);
  for (Ref& left : made.left) left = copy(left);
  return made;
}

}  // namespace gdr::native
