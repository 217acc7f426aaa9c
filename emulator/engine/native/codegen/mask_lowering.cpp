#include "emulator/engine/native/codegen/mask_lowering.hpp"

#include <utility>

#include "emulator/engine/native/codegen/operation_table.hpp"

namespace gdr::native {

using jit::IntPredicate;
using jit::Op;
using jit::Type;

MaskLowering::ValueId MaskLowering::comparison(const Node& node, bool inverted, ValueId mask) {
  const bool of_numbers = is_comparison_with_zero(node.op);
  if (!v_.has_mask_registers() && !of_numbers) return comparison_of_integers(node, inverted);
  const Comparison& c = *comparison_of(node.op);
  const std::uint8_t predicate = inverted ? c.no : c.yes;
  if (of_numbers && v_.selection.is_compared(node_of(node.a))) {
    const Node& difference = g_[node.a];
    return v_.compared(c.op, v_.value(difference.a), v_.value(difference.b), predicate, mask);
  }
  const ValueId a = v_.value(node.a);
  const ValueId b =
      node.b == no_ref ? v_.constant(of_numbers ? Kind::Number : Kind::Bits, 0) : v_.value(node.b);
  return v_.compared(c.op, a, b, predicate, mask);
}

/// By the two comparisons of AVX2.
MaskLowering::ValueId MaskLowering::comparison_of_integers(const Node& node, bool inverted) {
  const auto greater = [&](ValueId x, ValueId y) {
    return v_.compared(Op::CompareSigned, x, y, code_of(IntPredicate::Greater));
  };
  const ValueId a = v_.value(node.a);
  ValueId mask = jit::no_value;
  if (node.op == NodeOp::BitsNegative) {
    mask = greater(v_.constant(Kind::Bits, 0), a);
  } else if (node.op == NodeOp::BitsEqual) {
    mask = v_.compared(Op::CompareSigned, a, v_.value(node.b), code_of(IntPredicate::Equal));
  } else {
    // Unsigned a >= b is not (b > a), as signed integers with inverted top bits.
    const ValueId top = v_.constant(Kind::Bits, v_.top_bit_of_lanes());
    const ValueId b = v_.vector(Op::Xor, v_.value(node.b), top);
    mask = greater(b, v_.vector(Op::Xor, a, top));
    inverted = !inverted;
  }
  return inverted ? v_.complement_of(mask) : mask;
}

MaskLowering::ValueId MaskLowering::both(const Node& node) {
  const bool registers = v_.has_mask_registers();
  if (const Ref inner = registers ? v_.selection.absorbed_by_both(node) : no_ref; inner != no_ref) {
    const Ref other = inner == node.b ? node.a : node.b;
    if (!v_.selection.is_complement(other))
      return comparison(g_[inner], negated(inner), v_.value(other));
    // As many instructions as under the complement, and independent of the other mask.
    const ValueId mask = comparison(g_[inner], negated(inner));
    return v_.operation(Op::MaskAndNot, Type::Mask, v_.value(other), mask);
  }
  if (const ComparedNumbers joined = v_.selection.less_or_equal(node); joined.a != no_ref)
    return v_.compared(Op::Compare, v_.value(joined.a), v_.value(joined.b),
                       code_of(jit::Predicate::LessEqual));
  ValueId a = v_.value(node.a), b = v_.value(node.b);
  const bool turned_a = v_.selection.is_complement(node.a);
  const bool turned_b = v_.selection.is_complement(node.b);
  if (turned_a && turned_b) return v_.operation(registers ? Op::MaskOr : Op::Or, Type::Mask, a, b);
  if (!turned_a && !turned_b)
    return v_.operation(registers ? Op::MaskAnd : Op::And, Type::Mask, a, b);
  if (turned_b) std::swap(a, b);
  return v_.operation(registers ? Op::MaskAndNot : Op::AndNot, Type::Mask, a, b);
}

}  // namespace gdr::native
