// The cube root: y near |x|^(-1/3) from the bits of x, e = 1 - |x| y^3, and then
// x^(1/3) = x y^2 (1 - e)^(-2/3).
#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc::functions {
namespace {

/// The bits of y are this minus a third of the bits of |x|: |e| is at most 0.0982 (the offset
/// balances both ends).
constexpr std::uint64_t cube_root_magic = 0x553ee95d7;
/// Bits of x that do not count for y.
constexpr unsigned dropped_bits = 12;

/// A Newton step from c = first (1 + correction): c + (x - c^3) / (3 c^2), with
/// 1 / c^2 = y^2 (1 + correction) to the accuracy of a short.
Ref cube_root_step(Builder& b, const Ref& x, const Ref& first, const Ref& correction, const Ref& yy,
                   Width width) {
  const Width wide = Width::Long;
  const Width of_c = b.in_longs() ? wide : Width::Short;
  const Ref c = b.emit(Op::Fadd, of_c, first, b.product(first, correction, wide));
  const Ref ccc = b.product(b.product(c, c, wide), c, wide);
  const Ref rest = b.emit(Op::Fsub, wide, x, ccc);
  const Ref third = b.product(yy, b.immediate(nearest_short(1.0 / 3)), wide);
  const Ref factor = b.emit(Op::Fadd, Width::Short, third, b.product(third, correction, wide));
  return b.emit(Op::Fadd, width, c, b.product(rest, factor, wide));
}

Ref cube_root(Builder& b, const Ref& x, Width width) {
  const Width wide = Width::Long;
  const Ref narrow = b.absolute(b.short_of(x));
  // A third of the upper bits k: they are the last bits of 2^24 + k.
  const Ref k = b.emit(Op::Ishr, Width::Short, narrow, b.bits(dropped_bits));
  const Ref number = b.emit(Op::Ior, Width::Short, k,
                            b.bits((exponent_bias + short_fraction_bits) << short_fraction_bits));
  constexpr double third = 1.0 / 3;
  const Ref shifted = b.emit(Op::Fadd, Width::Short, b.product(b.immediate(third), number, wide),
                             b.immediate(short_ones - 16777216.0 / 3));
  const Ref part = b.emit(Op::Ishl, Width::Short, shifted, b.bits(dropped_bits));
  const auto ones = static_cast<std::uint64_t>(constant_ref(short_ones).bits);
  const Ref y = b.emit(Op::Isub, Width::Short,
                       b.bits((cube_root_magic + (ones << dropped_bits)) & Short::mask), part);
  const Ref yy = b.product(y, y, wide);
  // A step leaves the square of the first value's error: doubles need all of x for that value.
  const Ref magnitude = b.in_longs() ? b.absolute(x) : narrow;
  // In this order no product leaves the range.
  const Ref cube = b.product(b.product(yy, magnitude, wide), y, wide);
  const Ref e = b.emit(Op::Fsub, wide, b.immediate(1), cube);
  const Ref p = b.horner(e, 0.1, coefficients::cbrt, Width::Short, Width::Short);
  const Ref correction = b.product(e, p, Width::Short);
  // In shorts x and `narrow` differ by a rounding of x that cannot be told from that of the result,
  // unless x is a long.
  const Ref factor = width == Width::Short || b.in_longs() ? x : b.short_of(x);
  const Ref first = b.product(yy, factor, wide);
  if (width == Width::Short) {
    if (b.width_of(x) == Width::Long) return cube_root_step(b, x, first, correction, yy, width);
    return b.emit(Op::Fadd, width, first, b.product(first, correction, wide));
  }
  return cube_root_step(b, x, first, correction, yy, width);
}

Slope slope_of_cube_root(const FunctionAt& at) {
  const Value cubed = at.times(at.number(3), at.times(at.f, at.f));
  return {at.apply(Fn::Reciprocal, cubed), at.is_not(at.x, at.number(0))};
}

}  // namespace

extern constexpr Function cbrt{
    .name = "cbrt",
    .arguments = "x",
    .meaning = "cube root",
    .fn = Fn::Cbrt,
    .value = [](auto x, auto, int) { return std::cbrt(x); },
    .lower = odd<cube_root>,
    .slopes = {slope_of_cube_root},
    .accuracy = {"1e-290 to 1e307 of either sign, 0", "1e-14",
                 "smaller: 6e-8; infinities: unspecified"},
    .timed = {"cbrt(a)"},
};

}  // namespace gdr::kc::functions
