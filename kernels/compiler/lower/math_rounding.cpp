// Rounding to integers, ints from numbers, and quotients of ints by constants.
#include <bit>

#include "kernels/compiler/lower/builder.hpp"
#include "kernels/compiler/lower/math.hpp"

namespace gdr::kc {
namespace {

/// Adding it rounds a number below 2^45 to a multiple of 2^22, in a short.
constexpr unsigned upper_step_bits = 22;
constexpr double upper_ones = short_ones * (1 << upper_step_bits);

}  // namespace

/// The nearest multiple of 2^22 and the nearest integer to the rest, in shorts: no sum needs more
/// than 25 bits, so that it is the same on hosts with other longs.
Ref Builder::nearest_integer(const Ref& x, Width width) {
  if (width == Width::Short) return rounded_short(x);
  const Ref high =
      emit(Op::Fsub, Width::Short, emit(Op::Fadd, Width::Short, x, immediate(upper_ones)),
           immediate(upper_ones));
  const Ref rest = emit(Op::Fsub, Width::Long, x, high);
  return emit(Op::Fadd, Width::Long, high, rounded_short(rest));
}

/// One less than the nearest integer where that is above x.
Ref Builder::floor_of(const Ref& x, Width width) {
  const Ref near = nearest_integer(x, width);
  const Condition above = flag_of(Op::Fsub, x, near, MaskFlag::Negative);
  return where(above, emit(Op::Fsub, width, near, immediate(1)), copy_of(near, width), width);
}

/// x, limited to the integer below |x|, of either sign.
Ref Builder::truncated(const Ref& x, Width width) {
  const Ref limit = floor_of(absolute(x), width);
  const Ref least = emit(Op::Fsub, width, immediate(0), limit);
  return emit(Op::Fmin, width, emit(Op::Fmax, width_of(x), x, least), limit);
}

/// The integer nearest to a number, of 36 bits: the multiple of 2^22 and the rest, from the last
/// bits of shorts.
Ref Builder::nearest_int(const Ref& x) {
  const auto last_bits = [&](const Ref& shifted, double ones) {
    const auto origin = constant_ref(ones).bits;
    return emit(Op::Isub, Width::Short, shifted, bits(static_cast<std::uint64_t>(origin)));
  };
  const Ref shifted = emit(Op::Fadd, Width::Short, x, immediate(upper_ones));
  const Ref high = emit(Op::Fsub, Width::Short, shifted, immediate(upper_ones));
  const Ref rest = emit(Op::Fsub, Width::Long, x, high);
  const Ref low = emit(Op::Fadd, Width::Short, rest, immediate(short_ones));
  const Ref upper =
      emit(Op::Ishl, Width::Short, last_bits(shifted, upper_ones), bits(upper_step_bits));
  return emit(Op::Iadd, Width::Short, upper, last_bits(low, short_ones));
}

/// n, or -n where all bits of `sign` are set.
Ref Builder::with_sign(const Ref& n, const Ref& sign) {
  return emit(Op::Isub, Width::Short, emit(Op::Ixor, Width::Short, n, sign), sign);
}

/// The integer of a number, rounded towards zero. 1/2 - 2^-26 less than the absolute value of a
/// short is nearest to it, and exact in a long.
Ref Builder::truncated_int(const Ref& x) {
  if (width_of(x) == Width::Long) return nearest_int(truncated(x, Width::Long));
  const Ref sign = emit(Op::Iasr, Width::Short, x, bits(35));
  const Ref less = emit(Op::Fsub, Width::Long, absolute(x), immediate(0.5 - 0x1p-26));
  return with_sign(nearest_int(less), sign);
}

/// n / divisor, rounded towards zero. The quotient of |n| is the integer nearest to
/// |n| / divisor + (1 / divisor - 1) / 2, which is at least 1 / (2 divisor) away from a half.
Ref Builder::int_quotient(const Ref& n, std::int64_t divisor) {
  const auto d = static_cast<std::uint64_t>(divisor);
  const Ref sign = emit(Op::Iasr, Width::Short, n, bits(35));
  if (std::has_single_bit(d)) {
    // Negative numbers are rounded up.
    const Ref offset = emit(Op::Iand, Width::Short, sign, bits(d - 1));
    return emit(Op::Iasr, Width::Short, emit(Op::Iadd, Width::Short, n, offset),
                bits(static_cast<std::uint64_t>(std::countr_zero(d))));
  }
  const double inverse = 1 / static_cast<double>(divisor);
  const Ref magnitude = absolute(number_of(n, Width::Long));
  const Ref ratio = product(magnitude, immediate(inverse), Width::Long);
  return with_sign(nearest_int(emit(Op::Fadd, Width::Long, ratio, immediate((inverse - 1) / 2))),
                   sign);
}

}  // namespace gdr::kc
