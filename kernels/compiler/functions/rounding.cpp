// Rounding to integers, ints from numbers, and quotients of ints by constants.
#include <bit>

#include "kernels/compiler/functions/definition.hpp"

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

namespace functions {
namespace {

/// -floor(-x).
Value ceiling(const Call& c) {
  const Value below = c.with.round1(Fn::Floor, c.with.negate(c.a[0], c.where), c.ctx, c.where);
  return c.with.negate(below, c.where);
}

}  // namespace

extern constexpr Function round{
    .name = "round",
    .arguments = "x",
    .meaning = "the nearest integer, of two the even one",
    .fn = Fn::Round,
    .value = [](auto x, auto, int) { return std::nearbyint(x); },
    .lower = odd<&Builder::nearest_integer>,
    .accuracy = {"up to 2^23 in shorts, 2^45 in longs", "exact",
                 "the argument within 2^-23 of it in shorts, 2^-48 in longs; infinities give an "
                 "infinity or NaN"},
    .timed = {"round(a)"},
};

extern constexpr Function floor{
    .name = "floor",
    .arguments = "x",
    .meaning = "the largest integer that is not above x",
    .fn = Fn::Floor,
    .value = [](auto x, auto, int) { return std::floor(x); },
    .lower = plain<&Builder::floor_of>,
    .accuracy = round.accuracy,
    .timed = {"floor(a)"},
};

extern constexpr Function ceil{
    .name = "ceil",
    .arguments = "x",
    .meaning = "the smallest integer that is not below x",
    .call = ceiling,
    .accuracy = round.accuracy,
};

extern constexpr Function trunc{
    .name = "trunc",
    .arguments = "x",
    .meaning = "x rounded to an integer towards zero",
    .fn = Fn::Trunc,
    .value = [](auto x, auto, int) { return std::trunc(x); },
    .lower = odd<&Builder::truncated>,
    .accuracy = round.accuracy,
    .timed = {"trunc(a)"},
};

extern constexpr Function to_int{
    .name = "int",
    .arguments = "x",
    .meaning = "a number as an int, rounded towards zero as in C",
    .call = [](const Call& c) { return c.with.integer(c.a[0], c.where); },
    .accuracy = {"up to 2^23 for a short argument, 2^35 for a long one", "exact", "unspecified"},
};

}  // namespace functions
}  // namespace gdr::kc
