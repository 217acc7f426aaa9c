#include "emulator/engine/native/translate/number_operations.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace gdr::native {
namespace {

/// Whether the program subtracts shorts from longs or longs from shorts, as it does to find what a
/// long has beyond the short that it was converted to.
bool takes_remainders(const Program& program) {
  const auto is_remainder = [](const Instruction& i) {
    const Arithmetic& slot = i.alu;
    return slot.op == Op::Fsub && slot.a.width != slot.b.width &&
           slot.a.space != Space::Immediate && slot.b.space != Space::Immediate;
  };
  return std::ranges::any_of(program.sections, [&](const std::vector<Instruction>& section) {
    return std::ranges::any_of(section, is_remainder);
  });
}

}  // namespace

NumberOperations::NumberOperations(const Program& program, SectionModel& model)
    : g_(model.graph),
      c_(model.cells),
      integers_(g_, c_),
      longs_are_doubles_(model.longs_are_doubles),
      takes_remainders_(takes_remainders(program)) {}

SlotResult NumberOperations::result(const Arithmetic& slot, SymbolicWord a, SymbolicWord b) {
  Ref made = integer_as_number(slot, a, b);
  if (made == no_ref) made = value(slot, a, b);
  SlotResult result{word_of_number(c_, g_, made, slot.width), no_ref};
  if (slot.mask.flag != MaskFlag::None) {
    const bool negative = slot.mask.flag == MaskFlag::Negative;
    result.flag = g_.op(negative ? NodeOp::Negative : NodeOp::IsZero, Kind::Mask, made);
  }
  return result;
}

Ref NumberOperations::value(const Arithmetic& slot, SymbolicWord a, SymbolicWord b) {
  const Ref x = number_of(c_, a, slot.a.width);
  const Ref y = slot.b.used() ? number_of(c_, b, slot.b.width) : no_ref;
  switch (slot.op) {
    case Op::Fadd:
    case Op::Fsub:
      return sum(slot, x, y);
    case Op::Fmul:
    case Op::Dmul:
      return g_.op(NodeOp::Mul, Kind::Number, x, y, no_ref,
                   slot.width == Width::Short ? short_result : std::uint8_t{0});
    case Op::Fmax:
    case Op::Fmin: {
      // The host's instructions return the second operand if one is NaN: constants go first.
      const bool turned = g_.is_constant(y);
      return g_.op(slot.op == Op::Fmax ? NodeOp::Max : NodeOp::Min, Kind::Number, turned ? y : x,
                   turned ? x : y);
    }
    default:
      // A long as a short is rounded only if the program uses the difference: the remainder may
      // be taken in another section, and rounding costs gravity in longs a fifth of its speed.
      if (!takes_remainders_ || slot.width == Width::Long || slot.a.width == Width::Short ||
          g_.is_constant(x))
        return x;
      return g_.op(NodeOp::Round, Kind::Number, x, no_ref, no_ref, short_result);
  }
}

Ref NumberOperations::sum(const Arithmetic& slot, Ref a, Ref b) {
  const Ref x = unrounded(slot, slot.a, a, b);
  const Ref y = unrounded(slot, slot.b, b, a);
  return g_.op(slot.op == Op::Fadd ? NodeOp::Add : NodeOp::Sub, Kind::Number, x, y, no_ref,
               slot.width == Width::Short ? short_result : std::uint8_t{0});
}

/// Adding and subtracting a large constant rounds if the intermediate sum is rounded to its format;
/// host numbers have more bits than a short and fewer than a long.
Ref NumberOperations::unrounded(const Arithmetic& slot, const Operand& x, Ref inner, Ref other) {
  const Node node = g_[inner];
  if (!is_sum(node.op)) return inner;
  if (x.width == Width::Long && (longs_are_doubles_ || !takes_back(slot, node, other)))
    return inner;
  if (!is_known_addend(node.a, other) && !is_known_addend(node.b, other)) return inner;
  if (x.width == Width::Long)
    throw Unsupported("a long is rounded by adding and subtracting a constant");
  return g_.op(NodeOp::Round, Kind::Number, inner);
}

/// Whether a sum of x + c and another constant, or their difference, takes c back, except for a
/// small part of it. Sums like x + 0.1 + 0.2 are not meant to round.
bool NumberOperations::takes_back(const Arithmetic& slot, const Node& inner, Ref other) const {
  const auto added = constant_added(g_, inner);
  if (!added || !g_.is_constant(other))
    return (slot.op == Op::Fadd) == (inner.op == NodeOp::Sub && inner.b == other);
  const double c = std::bit_cast<double>(g_[other].bits);
  const double left = slot.op == Op::Fadd ? *added + c : *added - c;
  return !(std::abs(left) > 0x1p-20 * std::abs(*added));
}

/// Whether an addend of a sum rounds it, before `other` is added: a constant before another one, or
/// the same invariant value.
bool NumberOperations::is_known_addend(Ref addend, Ref other) const {
  const NodeOp op = g_[addend].op;
  // Zero rounds nothing: -(-x) is x.
  if (op == NodeOp::Constant)
    return g_.is_constant(other) && std::bit_cast<double>(g_[addend].bits) != 0;
  return addend == other && (op == NodeOp::Uniform || op == NodeOp::Input);
}

/// The integer of a sum in ones (LongIntegers) after its number is subtracted, as a number; else
/// no_ref.
Ref NumberOperations::integer_as_number(const Arithmetic& slot, SymbolicWord a, SymbolicWord b) {
  if (slot.op != Op::Fsub || slot.a.width != Width::Long) return no_ref;
  const CellValue upper = slot.b.width == Width::Long ? b.upper : b.lower;
  if (!c_.is_constant(upper) || (slot.b.width == Width::Long && !c_.is_zero(b.lower)))
    return no_ref;
  const std::uint64_t constant = c_.constant_bits(upper);
  const Ref integer = c_.integer_added_to(constant, a.upper, a.lower);
  if (integer == no_ref) return no_ref;
  // The same within a double: added to 1.5 * 2^52, which is subtracted again. (As a fused product
  // with one, which is exact and is not taken for a sum with a constant.)
  constexpr double base = 0x1.8p52;
  const Ref low = integers_.op(NodeOp::ShiftArith, integer, integers_.constant(short_shift));
  const Ref bits = integers_.op(NodeOp::IntAdd, low,
                                g_.constant(Kind::Bits, std::bit_cast<std::uint64_t>(base)));
  return g_.op(NodeOp::Fma, Kind::Number, g_.as_number(bits), g_.number(1), g_.number(base),
               fma_negate_addend);
}

}  // namespace gdr::native
