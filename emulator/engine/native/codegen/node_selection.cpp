#include "emulator/engine/native/codegen/node_selection.hpp"

#include "emulator/engine/native/codegen/operation_table.hpp"

namespace gdr::native {

NodeSelection::NodeSelection(const Segment& segment, jit::VectorTarget target)
    : g_(segment.graph),
      target_(target),
      needed_(needed_nodes(segment)),
      uses_(use_counts(segment)),
      inverted_(g_.size(), false),
      absorbed_(g_.size(), false),
      compared_(g_.size(), false) {
  find_inverted(segment);
  find_compared();
  if (target_.mask_registers) find_absorbed();
  if (target_.joins_comparisons) find_joined();
}

bool NodeSelection::makes_operation(std::uint32_t n) const {
  const NodeOp op = g_[ref_to(n)].op;
  return needed_[n] && !absorbed_[n] && !compared_[n] && !is_leaf(op) && !is_free(op);
}

/// Comparisons of which only the complement is used, if the host has an instruction for that:
/// Select and Both accept complements of the others. And Both of two complements, which is the
/// complement of one instruction.
void NodeSelection::find_inverted(const Segment& segment) {
  std::vector<bool> straight(g_.size(), false), turned(g_.size(), false);
  const auto note = [&](Ref r) { (negated(r) ? turned : straight)[node_of(r)] = true; };
  for (const Store& store : segment.stores) note(store.value);
  for (std::uint32_t n = 0; n < g_.size(); ++n) {
    if (!needed_[n]) continue;
    const Node& node = g_[ref_to(n)];
    for (const Ref r : node.operands())
      note(r == node.a && runs_under_complement(node) ? complement(r) : r);
  }
  for (std::uint32_t n = 0; n < g_.size(); ++n) {
    const NodeOp op = g_[ref_to(n)].op;
    const bool of_integers = op == NodeOp::BitsEqual || op == NodeOp::BitsNegative;
    inverted_[n] = turned[n] && !straight[n] && is_comparison(op) &&
                   (target_.complements == jit::Complements::All ||
                    (target_.complements == jit::Complements::OfNumbers && !of_integers));
    if (op == NodeOp::Both && needed_[n]) inverted_[n] = is_either(g_[ref_to(n)]);
  }
}

/// Differences of which only the sign matters, or whether they are zero: their operands are
/// compared. (These differ in one case: two infinite numbers are equal.)
void NodeSelection::find_compared() {
  std::vector<unsigned> comparisons_of(g_.size(), 0);
  for (std::uint32_t n = 0; n < g_.size(); ++n) {
    const Node& node = g_[ref_to(n)];
    if (needed_[n] && is_comparison_with_zero(node.op)) ++comparisons_of[node_of(node.a)];
  }
  for (std::uint32_t n = 0; n < g_.size(); ++n)
    compared_[n] =
        comparisons_of[n] != 0 && comparisons_of[n] == uses_[n] && g_[ref_to(n)].op == NodeOp::Sub;
}

void NodeSelection::find_absorbed() {
  for (std::uint32_t n = 0; n < g_.size(); ++n) {
    if (!needed_[n]) continue;
    const Node& node = g_[ref_to(n)];
    Ref inner = no_ref;
    if (node.op == NodeOp::Select) inner = absorbed_by_select(node).inner;
    if (node.op == NodeOp::Both) inner = absorbed_by_both(node);
    if (inner != no_ref) absorbed_[node_of(inner)] = true;
  }
}

void NodeSelection::find_joined() {
  for (std::uint32_t n = 0; n < g_.size(); ++n) {
    const Node& node = g_[ref_to(n)];
    if (!needed_[n] || node.op != NodeOp::Both || less_or_equal(node).a == no_ref) continue;
    absorbed_[node_of(node.a)] = absorbed_[node_of(node.b)] = true;
  }
}

/// Whether a Both is computed as the complement of an Or.
bool NodeSelection::is_either(const Node& both) const {
  return is_complement(both.a) && is_complement(both.b) &&
         !(target_.mask_registers && absorbed_by_both(both) != no_ref);
}

bool NodeSelection::can_be_masked(Ref r, Ref otherwise) const {
  const Node& inner = g_[r];
  if (!has_one_use(r) || r == otherwise) return false;
  const bool zero = g_.is_constant(otherwise) && g_[otherwise].bits == 0;
  switch (inner.op) {
    case NodeOp::Add:
    case NodeOp::Sub:
    case NodeOp::Mul:
    case NodeOp::Scale:
    case NodeOp::IntAdd:
      return true;
    case NodeOp::Fma:
      return zero || inner.c == otherwise;
    default:
      return false;
  }
}

/// Whether the second operand of a select can run under the complement of its mask, and the first
/// one not under the mask.
bool NodeSelection::runs_under_complement(const Node& select) const {
  return target_.mask_registers && select.op == NodeOp::Select && select.kind != Kind::Mask &&
         !can_be_masked(select.b, select.c) && can_be_masked(select.c, select.b);
}

/// Under the complement only if that is what is computed.
MaskedOperation NodeSelection::absorbed_by_select(const Node& select) const {
  if (can_be_masked(select.b, select.c)) return {select.b, select.a, select.c};
  if (runs_under_complement(select) && is_complement(select.a))
    return {select.c, complement(select.a), select.b};
  return {};
}

ComparedNumbers NodeSelection::less_or_equal(const Node& both) const {
  if (!target_.joins_comparisons || !is_either(both)) return {};
  const bool first = g_[both.a].op == NodeOp::Negative;
  const Ref less = first ? both.a : both.b, equal = first ? both.b : both.a;
  const auto is_part = [&](Ref r, NodeOp op) {
    return g_[r].op == op && has_one_use(r) && compared_[node_of(g_[r].a)];
  };
  if (!is_part(less, NodeOp::Negative) || !is_part(equal, NodeOp::IsZero)) return {};
  const Node &x = g_[g_[less].a], &y = g_[g_[equal].a];
  const bool same = (x.a == y.a && x.b == y.b) || (x.a == y.b && x.b == y.a);
  return same ? ComparedNumbers{x.a, x.b} : ComparedNumbers{};
}

Ref NodeSelection::absorbed_by_both(const Node& both) const {
  for (const Ref r : {both.b, both.a})
    if (has_one_use(r) && is_comparison(g_[r].op) && g_[r].op != NodeOp::BitsNegative) return r;
  return no_ref;
}

}  // namespace gdr::native
