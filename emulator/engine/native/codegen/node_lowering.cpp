#include "emulator/engine/native/codegen/node_lowering.hpp"

#include <algorithm>
#include <bit>

#include "emulator/engine/native/codegen/operation_table.hpp"

namespace gdr::native {

using jit::IntPredicate;
using jit::no_value;
using jit::Op;
using jit::Predicate;
using jit::Type;

NodeLowering::ValueId NodeLowering::lower(std::uint32_t n) {
  const Node& node = g_[ref_to(n)];
  switch (node.op) {
    case NodeOp::Select:
      if (const MaskedOperation m = v_.selection.absorbed_by_select(node);
          m.inner != no_ref && v_.selection.is_absorbed(node_of(m.inner)))
        return under_mask(m);
      return select(node);
    case NodeOp::Max:
    case NodeOp::Min:
      return extremum(node);
    case NodeOp::Round:
      return round_to_short(node);
    case NodeOp::ShiftLeft:
    case NodeOp::ShiftRight:
    case NodeOp::ShiftArith:
      return shift(node);
    case NodeOp::SignedMax:
    case NodeOp::SignedMin:
    case NodeOp::UnsignedMax:
    case NodeOp::UnsignedMin:
      return extremum_of_integers(node);
    case NodeOp::Both:
      return masks_.both(node);
    case NodeOp::Truncate:
      return truncated(v_.value(node.a), node.detail);
    case NodeOp::ToInt:
      return to_int(node);
    case NodeOp::Lookup:
      return lookup(node);
    case NodeOp::Append:
      return append(node);
    default:
      if (is_comparison(node.op)) return masks_.comparison(node, v_.selection.is_inverted(n));
      return plain(node);
  }
}

NodeLowering::ValueId NodeLowering::plain(const Node& node) {
  if (node.op == NodeOp::Fma) {
    constexpr std::uint8_t signs = fma_negate_product | fma_negate_addend;
    return v_.vector(Op::Fma, v_.value(node.a), v_.value(node.b), v_.value(node.c),
                     node.detail & signs);
  }
  const ValueId b = node.b == no_ref ? no_value : v_.value(node.b);
  return v_.vector(simple_operation(node.op), v_.value(node.a), b);
}

/// An operation under a mask: other lanes are zero, or the select's other operand.
NodeLowering::ValueId NodeLowering::under_mask(const MaskedOperation& masked) {
  const ValueId mask = v_.mask(masked.mask);
  const ValueId result = plain(g_[masked.inner]);
  jit::Operation& o = v_.last();
  o.mask = mask;
  if (!is_zero(masked.otherwise)) o.otherwise = v_.value(masked.otherwise);
  return result;
}

NodeLowering::ValueId NodeLowering::select(const Node& node) {
  Ref yes = node.b;
  Ref no = node.c;
  if (v_.selection.is_complement(node.a)) std::swap(yes, no);
  const ValueId mask = v_.value(node.a);
  if (!v_.has_mask_registers() && is_zero(no)) return v_.vector(Op::And, mask, v_.value(yes));
  if (!v_.has_mask_registers() && is_zero(yes)) return v_.vector(Op::AndNot, mask, v_.value(no));
  return v_.vector(Op::Select, mask, v_.value(yes), v_.value(no));
}

/// The host gives the second operand where one is NaN; a NaN in the first must come through, too,
/// but where the second one is wanted.
NodeLowering::ValueId NodeLowering::extremum(const Node& node) {
  const ValueId a = v_.value(node.a);
  const ValueId extremum =
      v_.vector(node.op == NodeOp::Max ? Op::Max : Op::Min, a, v_.value(node.b));
  if (g_.is_constant(node.a) || node.detail == second_of_nan) return extremum;
  const ValueId nan = v_.compared(Op::Compare, a, a, code_of(Predicate::Unordered));
  return v_.vector(Op::Select, nan, a, extremum);
}

/// To the nearest short, ties to even: just under half is added, and one more for an odd last bit.
NodeLowering::ValueId NodeLowering::round_to_short(const Node& node) {
  const ValueId x = v_.value(node.a);
  const auto bits = [&](std::uint64_t b) { return v_.constant(Kind::Bits, b); };
  ValueId t = v_.vector(Op::ShiftRight, x, no_value, no_value, short_shift);
  t = v_.vector(Op::And, t, bits(1));
  t = v_.vector(Op::IntAdd, t, x);
  t = v_.vector(Op::IntAdd, t, bits((std::uint64_t{1} << (short_shift - 1)) - 1));
  return v_.vector(Op::And, t, bits(short_mask));
}

NodeLowering::ValueId NodeLowering::shift(const Node& node) {
  if (g_.is_constant(node.b)) return shift_by_constant(node);
  const ValueId x = v_.value(node.a);
  const bool arithmetic = node.op == NodeOp::ShiftArith;
  if (arithmetic && !v_.has_mask_registers())
    throw Unsupported("an arithmetic shift by a variable count (AVX2)");
  const ValueId count =
      v_.vector(Op::ShiftRight, v_.value(node.b), no_value, no_value, short_shift);
  const bool left = node.op == NodeOp::ShiftLeft;
  const Op op = arithmetic ? Op::ShiftArithBy : left ? Op::ShiftLeftBy : Op::ShiftRightBy;
  return v_.vector(op, x, count);
}

NodeLowering::ValueId NodeLowering::shift_by_constant(const Node& node) {
  const ValueId x = v_.value(node.a);
  const bool arithmetic = node.op == NodeOp::ShiftArith;
  const bool has_arithmetic = v_.has_mask_registers();
  const std::uint64_t limit = arithmetic ? 63 : 64;
  const auto count = static_cast<std::uint8_t>(std::min(g_[node.b].bits >> short_shift, limit));
  const Op op = arithmetic && has_arithmetic   ? Op::ShiftArith
                : node.op == NodeOp::ShiftLeft ? Op::ShiftLeft
                                               : Op::ShiftRight;
  const ValueId shifted = v_.vector(op, x, no_value, no_value, count);
  if (!arithmetic || has_arithmetic) return shifted;
  // Sign extension: (x ^ s) - s, with s the shifted sign bit.
  const ValueId sign = v_.constant(Kind::Bits, (std::uint64_t{1} << 63) >> count);
  return v_.vector(Op::IntSub, v_.vector(Op::Xor, shifted, sign), sign);
}

NodeLowering::ValueId NodeLowering::to_int(const Node& node) {
  const ValueId x = v_.value(value_behind(g_, node.a));
  if (v_.context.target.precision == Precision::Float) {
    // The host gives the least integer for numbers above the largest one.
    constexpr float largest = 0x1.fffffep30F;
    if (is_at_most(node.a, largest)) return v_.vector(Op::FloatToInt, x);
    return v_.vector(Op::FloatToInt, v_.vector(Op::Min, x, v_.number(largest)));
  }
  if (v_.has_mask_registers()) return v_.vector(Op::DoubleToInt, x);
  // In the last bits of a number whose unit is one.
  constexpr double ones = 0x1.8p52;
  const ValueId sum = v_.vector(Op::Add, truncated(x, 0), v_.number(ones));
  return v_.vector(Op::IntSub, sum, v_.constant(Kind::Bits, std::bit_cast<std::uint64_t>(ones)));
}

NodeLowering::ValueId NodeLowering::truncated(ValueId x, std::uint8_t towards) {
  const auto [found, is_new] = truncated_.try_emplace({x, towards}, no_value);
  if (is_new) found->second = v_.vector(Op::Truncate, x, no_value, no_value, towards);
  return found->second;
}

/// Whether a number is limited by a constant.
bool NodeLowering::is_at_most(Ref r, double limit) const {
  const Node& node = g_[r];
  if (node.op == NodeOp::Constant) return std::bit_cast<double>(node.bits) <= limit;
  return node.op == NodeOp::Min && (is_at_most(node.a, limit) || is_at_most(node.b, limit));
}

NodeLowering::ValueId NodeLowering::lookup(const Node& node) {
  const ValueId made = v_.vector(Op::Gather, v_.value(node.a));
  v_.last().place = SegmentValues::place_at(v_.context.table(node));
  return made;
}

NodeLowering::ValueId NodeLowering::extremum_of_integers(const Node& node) {
  if (v_.has_mask_registers()) return plain(node);
  const ValueId a = v_.value(node.a), b = v_.value(node.b);
  ValueId x = a, y = b;
  if (node.op == NodeOp::UnsignedMax || node.op == NodeOp::UnsignedMin) {
    const ValueId top = v_.constant(Kind::Bits, v_.top_bit_of_lanes());
    y = v_.vector(Op::Xor, b, top);
    x = v_.vector(Op::Xor, a, top);
  }
  const ValueId larger = v_.compared(Op::CompareSigned, x, y, code_of(IntPredicate::Greater));
  const bool max = node.op == NodeOp::SignedMax || node.op == NodeOp::UnsignedMax;
  return v_.vector(Op::Select, larger, max ? a : b, max ? b : a);
}

/// The result only stands for the append among the roots.
NodeLowering::ValueId NodeLowering::append(const Node& node) {
  const ValueId mask = v_.mask(node.a);
  const ValueId made =
      v_.operation(Op::Append, Type::Vector, mask, v_.value(value_behind(g_, node.b)));
  v_.last().place = SegmentValues::place_at(v_.context.list(AppendKey::unpack(node.bits).list));
  return made;
}

}  // namespace gdr::native
