#include "emulator/engine/native/translate/long_extrema.hpp"

namespace gdr::native {
namespace {

bool is_signed_extremum(Op op) { return op == Op::Imin || op == Op::Imax; }

}  // namespace

SlotResult LongExtrema::result(const Arithmetic& slot, SymbolicWord a, SymbolicWord b) {
  if (const auto extremum = extremum_of_shorts(slot, a, b))
    return {*extremum, integers_.flag_of(slot.mask.flag, *extremum)};
  if (const auto least = min_number(slot, a, b)) return {*least, no_ref};
  if (const auto least = min_number(slot, b, a)) return {*least, no_ref};
  const SymbolicWord extremum = extremum_of_longs(slot, a, b);
  return {extremum, integers_.flag_of(slot.mask.flag, extremum)};
}

/// Whether a signed operand of a long operation is a short with its sign above.
bool LongExtrema::is_widened(const Operand& x, SymbolicWord word) const {
  if (x.width == Width::Short) return true;
  if (!c_.is_constant(word.upper) || !c_.is_constant(word.lower)) return false;
  const bool negative = (c_.constant_bits(word.lower) >> short_sign_bit) != 0;
  return c_.constant_bits(word.upper) == (negative ? Short::mask : 0);
}

/// Whether a number is a sum of squares, and thus never negative.
bool LongExtrema::is_sum_of_squares(Ref r) const {
  const Node& node = g_[r];
  switch (node.op) {
    case NodeOp::Mul:
      return node.a == node.b;
    case NodeOp::Add:
      return is_sum_of_squares(node.a) && is_sum_of_squares(node.b);
    case NodeOp::Round:
      return is_sum_of_squares(node.a);
    default:
      return false;
  }
}

/// Kernels pack a number above an integer to find the smallest number, and the integer that belongs
/// to it: the least long. Numbers that are not negative are ordered like their bits, and are
/// compared as such, which spares many operations.
std::optional<SymbolicWord> LongExtrema::min_number(const Arithmetic& slot, SymbolicWord key,
                                                    SymbolicWord other) {
  if (slot.op != Op::Imin || slot.mask.flag != MaskFlag::None) return std::nullopt;
  if (!c_.prefers_number(key.upper) || c_.is_constant(key.upper)) return std::nullopt;
  const Ref x = c_.short_number(key.upper);
  if (!is_sum_of_squares(x)) return std::nullopt;
  const Ref y = c_.short_number(other.upper);
  const Ref difference = g_.op(NodeOp::Sub, Kind::Number, x, y);
  const Ref smaller = integers_.test(NodeOp::Negative, difference);
  const Ref first_of_equals = g_.both(
      integers_.test(NodeOp::IsZero, difference),
      complement(integers_.test(NodeOp::BitsAtLeast, c_.bits(key.lower), c_.bits(other.lower))));
  const Ref taken = complement(g_.both(complement(smaller), complement(first_of_equals)));
  return SymbolicWord{c_.value(g_.select(taken, x, y)), c_.select(taken, key.lower, other.lower)};
}

/// Of two shorts with their signs above.
std::optional<SymbolicWord> LongExtrema::extremum_of_shorts(const Arithmetic& slot, SymbolicWord a,
                                                            SymbolicWord b) {
  if (!is_signed_extremum(slot.op) || !is_widened(slot.a, a) || !is_widened(slot.b, b))
    return std::nullopt;
  const Ref extremum = integers_.op(integer_node(slot.op), c_.bits(a.lower), c_.bits(b.lower));
  return SymbolicWord{c_.value(integers_.sign_of(extremum)), c_.value(extremum)};
}

/// Longs are compared by their upper halves, and where these are equal by the lower ones.
SymbolicWord LongExtrema::extremum_of_longs(const Arithmetic& slot, SymbolicWord a,
                                            SymbolicWord b) {
  const bool least = slot.op == Op::Imin || slot.op == Op::Umin;
  const Ref upper[] = {c_.bits(a.upper), c_.bits(b.upper)};
  const Ref lower[] = {c_.bits(a.lower), c_.bits(b.lower)};
  const auto ordered = [&](Ref half) {
    if (!is_signed_extremum(slot.op)) return half;
    return integers_.op(NodeOp::Xor, half, integers_.constant(std::uint64_t{1} << short_sign_bit));
  };
  const Ref less =
      complement(integers_.test(NodeOp::BitsAtLeast, ordered(upper[0]), ordered(upper[1])));
  const Ref lower_less = complement(integers_.test(NodeOp::BitsAtLeast, lower[0], lower[1]));
  const Ref first_is_less =
      g_.select(integers_.test(NodeOp::BitsEqual, upper[0], upper[1]), lower_less, less);
  const Ref first = least ? first_is_less : complement(first_is_less);
  return {c_.select(first, a.upper, b.upper), c_.select(first, a.lower, b.lower)};
}

}  // namespace gdr::native
