// The cube root: y near |x|^(-1/3) from the bits of x, e = 1 - |x| y^3, and then
// x^(1/3) = x y^2 (1 - e)^(-2/3).
#include <cmath>

#include "kernels/compiler/lower/builder.hpp"
#include "kernels/compiler/lower/math.hpp"
#include "kernels/compiler/lower/math_coefficients.hpp"

namespace gdr::kc {
namespace {

/// The bits of y are this minus a third of the bits of |x|: |e| is at most 0.0982 (the offset
/// balances both ends).
constexpr std::uint64_t cube_root_magic = 0x553ee95d7;
/// Bits of x that do not count for y.
constexpr unsigned dropped_bits = 12;

}  // namespace

Ref Builder::cube_root(const Ref& x, Width width) {
  const Width wide = Width::Long;
  const Ref narrow = absolute(short_of(x));
  // A third of the upper bits k: they are the last bits of 2^24 + k.
  const Ref k = emit(Op::Ishr, Width::Short, narrow, bits(dropped_bits));
  const Ref number = emit(Op::Ior, Width::Short, k,
                          bits((exponent_bias + short_fraction_bits) << short_fraction_bits));
  constexpr double third = 1.0 / 3;
  const Ref shifted = emit(Op::Fadd, Width::Short, product(immediate(third), number, wide),
                           immediate(short_ones - 16777216.0 / 3));
  const Ref part = emit(Op::Ishl, Width::Short, shifted, bits(dropped_bits));
  const auto ones = static_cast<std::uint64_t>(constant_ref(short_ones).bits);
  const Ref y = emit(Op::Isub, Width::Short,
                     bits((cube_root_magic + (ones << dropped_bits)) & Short::mask), part);
  const Ref yy = product(y, y, wide);
  // A step leaves the square of the first value's error: doubles need all of x for that value.
  const Ref magnitude = graph_.in_longs ? absolute(x) : narrow;
  // In this order no product leaves the range.
  const Ref cube = product(product(yy, magnitude, wide), y, wide);
  const Ref e = emit(Op::Fsub, wide, immediate(1), cube);
  const Ref p = horner(e, 0.1, coefficients::cbrt, Width::Short, Width::Short);
  const Ref correction = product(e, p, Width::Short);
  // In shorts x and `narrow` differ by a rounding of x that cannot be told from that of the result,
  // unless x is a long.
  const Ref factor = width == Width::Short || graph_.in_longs ? x : short_of(x);
  const Ref first = product(yy, factor, wide);
  if (width == Width::Short) {
    if (width_of(x) == Width::Long) return cube_root_step(x, first, correction, yy, width);
    return emit(Op::Fadd, width, first, product(first, correction, wide));
  }
  return cube_root_step(x, first, correction, yy, width);
}

/// A Newton step from c = first (1 + correction): c + (x - c^3) / (3 c^2), with
/// 1 / c^2 = y^2 (1 + correction) to the accuracy of a short.
Ref Builder::cube_root_step(const Ref& x, const Ref& first, const Ref& correction, const Ref& yy,
                            Width width) {
  const Width wide = Width::Long;
  const Width of_c = graph_.in_longs ? wide : Width::Short;
  const Ref c = emit(Op::Fadd, of_c, first, product(first, correction, wide));
  const Ref ccc = product(product(c, c, wide), c, wide);
  const Ref rest = emit(Op::Fsub, wide, x, ccc);
  const Ref third = product(yy, immediate(nearest_short(1.0 / 3)), wide);
  const Ref factor = emit(Op::Fadd, Width::Short, third, product(third, correction, wide));
  return emit(Op::Fadd, width, c, product(rest, factor, wide));
}

}  // namespace gdr::kc
