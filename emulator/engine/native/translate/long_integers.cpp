#include <string>

#include "emulator/engine/native/translate/integer_operations.hpp"
#include "emulator/isa/table.hpp"

namespace gdr::native {
namespace {

/// Longs with this exponent count in ones: 1.5 * 2^60 and 36 bits of integer, added up as integers,
/// are the number of that sum.
constexpr std::uint64_t exponent_of_ones = 1023 + 60;

/// Can a short integer be added to the bits of the long number whose upper half this is, and the
/// lower one zero, so that the sum is again a number of its exponent?
bool counts_in_ones(std::uint64_t upper) {
  const std::uint64_t fraction = upper & 0xffffff;
  return ((upper >> 24) & 2047) == exponent_of_ones && fraction >= 1 && fraction < 0xffffff;
}

}  // namespace

SlotResult LongIntegers::result(const Arithmetic& slot, SymbolicWord a, SymbolicWord b) {
  const OpInfo& op = info(slot.op);
  a = widened(slot.a, a, op.signed_operands);
  b = widened(slot.b, b, op.signed_operands && !op.unsigned_count);
  if (SlotResult sum_in_ones; add_to_constant(slot, a, b, sum_in_ones)) return sum_in_ones;
  switch (slot.op) {
    case Op::Ipass:
    case Op::Upass:
      return passed(slot, a);
    case Op::Imax:
    case Op::Imin:
    case Op::Umax:
    case Op::Umin:
      return extrema_.result(slot, a, b);
    case Op::Ishl:
    case Op::Ishr:
      return shifted(slot, a, b);
    case Op::Iadd:
    case Op::Isub:
      if (changes_number(slot, a, b)) return {changed_number(slot, a, b), no_ref};
      return sum(slot, a, b);
    case Op::Iand:
    case Op::Ior:
    case Op::Ixor:
      if (changes_number(slot, a, b)) return {changed_number(slot, a, b), no_ref};
      return logical(slot, a, b);
    case Op::Inot:
      return logical(slot, a, b);
    default:
      throw Unsupported("integer operation " + std::string(op.mnemonic) + " on longs");
  }
}

/// A short operand of a long operation becomes the lower half, on request with its sign above.
SymbolicWord LongIntegers::widened(const Operand& x, SymbolicWord word, bool with_sign) {
  if (x.width == Width::Long || !with_sign) return word;
  if (c_.is_constant(word.lower)) {
    const bool negative = (c_.constant_bits(word.lower) >> short_sign_bit) != 0;
    return {c_.constant(negative ? Short::mask : 0), word.lower};
  }
  if (x.space == Space::PeNumber || x.space == Space::BlockNumber) return word;
  return {c_.value(integers_.sign_of(c_.bits(word.lower))), word.lower};
}

/// An integer is added to the bits of a number with unit last place. Doubles cannot represent the
/// sum: it stays symbolic until the number is subtracted (NumberOperations) or the bits are used.
bool LongIntegers::add_to_constant(const Arithmetic& slot, SymbolicWord a, SymbolicWord b,
                                   SlotResult& sum) {
  if (slot.op != Op::Iadd || slot.mask.flag != MaskFlag::None) return false;
  const bool first = c_.is_constant(a.upper) && c_.is_constant(a.lower);
  const SymbolicWord number = first ? a : b;
  const SymbolicWord integer = first ? b : a;
  const Operand& x = first ? slot.b : slot.a;
  if (x.width == Width::Long || c_.is_constant(integer.lower)) return false;
  if (!c_.is_constant(number.upper) || !c_.is_constant(number.lower)) return false;
  const std::uint64_t upper = c_.constant_bits(number.upper);
  if (c_.constant_bits(number.lower) != 0 || !counts_in_ones(upper)) return false;
  const Ref bits = c_.bits(integer.lower);
  sum = {{c_.sum(upper, bits, false), c_.sum(upper, bits, true)}, no_ref};
  return true;
}

/// Whether the operation is on the bits of a computed long number.
bool LongIntegers::changes_number(const Arithmetic& slot, SymbolicWord a, SymbolicWord b) const {
  return slot.mask.flag == MaskFlag::None &&
         (c_.is_half_of_number(a.upper) || c_.is_half_of_number(b.upper));
}

/// Exponent, sign and leading bits of a computed long number, changed by a constant that leaves the
/// last 36 bits alone: an absolute value, a power of two.
SymbolicWord LongIntegers::changed_number(const Arithmetic& slot, SymbolicWord a, SymbolicWord b) {
  const bool first = c_.is_half_of_number(a.upper);
  const SymbolicWord number = first ? a : b;
  const SymbolicWord other = first ? b : a;
  const Ref value = c_.long_number(number.upper, number.lower);
  const bool keeps_low =
      c_.is_constant(other.lower) &&
      c_.constant_bits(other.lower) == (slot.op == Op::Iand ? Short::mask : std::uint64_t{0});
  if (!keeps_low || (slot.op == Op::Isub && !first))
    throw Unsupported("the low bits of a long number are used as an integer");
  Ref mask = c_.bits(other.upper);
  if (slot.op == Op::Iand)
    mask = integers_.op(NodeOp::Or, mask, g_.constant(Kind::Bits, ~short_mask));
  const Ref bits = integers_.op(integer_node(slot.op), g_.as_bits(value), mask);
  return word_of_number(c_, g_, g_.as_number(bits), Width::Long);
}

SlotResult LongIntegers::passed(const Arithmetic& slot, SymbolicWord a) {
  if (slot.mask.flag == MaskFlag::None) return {a, no_ref};
  const Ref upper = c_.bits(a.upper);
  const Ref lower = c_.bits(a.lower);
  return {a, integers_.flag(slot.mask.flag, upper, lower, integers_.never())};
}

/// A long shifted by a constant number of bits.
SlotResult LongIntegers::shifted(const Arithmetic& slot, SymbolicWord a, SymbolicWord b) {
  if (!c_.is_constant(b.lower) || !c_.is_zero(b.upper))
    throw Unsupported("a long is shifted by a variable number of bits");
  const std::uint64_t count = c_.constant_bits(b.lower);
  if (slot.mask.flag == MaskFlag::Carry) throw Unsupported("the carry of a long is used");
  if (count >= 2 * Short::bit_count) throw Unsupported("a long is shifted by all its bits");
  const SymbolicWord word = shifted_by(slot.op == Op::Ishl, count, a);
  return {word, integers_.flag_of(slot.mask.flag, word)};
}

SymbolicWord LongIntegers::shifted_by(bool left, std::uint64_t count, SymbolicWord a) {
  const CellValue zero = c_.constant(0);
  const std::uint64_t within = count % Short::bit_count;
  const bool crosses = count >= Short::bit_count;
  const auto shift = [&](NodeOp op, CellValue half, std::uint64_t by) {
    return integers_.op(NodeOp::And, integers_.op(op, c_.bits(half), integers_.constant(by)),
                        integers_.all_ones());
  };
  const NodeOp along = left ? NodeOp::ShiftLeft : NodeOp::ShiftRight;
  const NodeOp back = left ? NodeOp::ShiftRight : NodeOp::ShiftLeft;
  const CellValue from = left ? a.lower : a.upper;  // its bits move towards the other half
  const CellValue to = left ? a.upper : a.lower;
  SymbolicWord moved{from, to};
  if (within == 0) {
    if (crosses) moved = {zero, from};
  } else if (crosses) {
    moved = {zero, c_.value(shift(along, from, within))};
  } else {
    moved = {c_.value(shift(along, from, within)),
             c_.value(integers_.op(NodeOp::Or, shift(along, to, within),
                                   shift(back, from, Short::bit_count - within)))};
  }
  return left ? SymbolicWord{moved.lower, moved.upper} : moved;
}

/// A sum or difference, with the carry of the lower halves.
SlotResult LongIntegers::sum(const Arithmetic& slot, SymbolicWord a, SymbolicWord b) {
  const Ref upper_a = c_.bits(a.upper), lower_a = c_.bits(a.lower);
  const Ref upper_b = c_.bits(b.upper), lower_b = c_.bits(b.lower);
  const NodeOp node = integer_node(slot.op);
  if (slot.mask.flag == MaskFlag::Carry) throw Unsupported("the carry of a long is used");
  const Ref lower = integers_.op(node, lower_a, lower_b);
  const Ref no_carry = slot.op == Op::Iadd ? integers_.test(NodeOp::BitsAtLeast, lower, lower_a)
                                           : integers_.test(NodeOp::BitsAtLeast, lower_a, lower_b);
  const Ref one = g_.select(complement(no_carry), integers_.constant(1), integers_.constant(0));
  const Ref upper = integers_.op(node, integers_.op(node, upper_a, upper_b), one);
  return {{c_.value(upper), c_.value(lower)},
          integers_.flag(slot.mask.flag, upper, lower, integers_.never())};
}

SlotResult LongIntegers::logical(const Arithmetic& slot, SymbolicWord a, SymbolicWord b) {
  const auto operand = [&](CellValue half) {
    return slot.op == Op::Inot ? integers_.all_ones() : c_.bits(half);
  };
  const NodeOp node = integer_node(slot.op);
  Ref upper = c_.bits(a.upper);
  Ref lower = c_.bits(a.lower);
  upper = integers_.op(node, upper, operand(b.upper));
  lower = integers_.op(node, lower, operand(b.lower));
  if (slot.op == Op::Ior && slot.mask.flag == MaskFlag::None) {
    // Halves that the other operand leaves alone keep their origin.
    const auto joined = [&](CellValue x, CellValue y, Ref made) {
      return c_.is_zero(x) ? y : c_.is_zero(y) ? x : c_.value(made);
    };
    return {{joined(a.upper, b.upper, upper), joined(a.lower, b.lower, lower)}, no_ref};
  }
  return {{c_.value(upper), c_.value(lower)},
          integers_.flag(slot.mask.flag, upper, lower, integers_.never())};
}

}  // namespace gdr::native
