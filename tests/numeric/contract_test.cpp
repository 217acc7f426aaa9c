// The definition of the arithmetic (contract), sentence by sentence, with results computed by hand.
#include "emulator/numeric/float.hpp"
#include "support/catch.hpp"

namespace {

using namespace gdr;  // NOLINT: the names under test

constexpr Long word(unsigned sign, unsigned exponent, std::uint64_t fraction) {
  return {(u128{sign} << 71) | (u128{exponent} << 60) | fraction};
}
constexpr std::uint64_t top = std::uint64_t{1} << 59;    // 1/2 as a fraction
constexpr std::uint64_t ulp25 = std::uint64_t{1} << 36;  // last bit of a short's fraction
constexpr Long one = word(0, 1023, 0);
constexpr Long zero_plus = word(0, 0, 0);
constexpr Long zero_minus = word(1, 0, 0);
constexpr Long infinity = word(0, 2047, 0);
constexpr Long minus_infinity = word(1, 2047, 0);
constexpr Long largest = word(0, 2046, (std::uint64_t{1} << 60) - 1);
constexpr Long smallest = word(0, 1, 0);

struct Outcome {
  Long value;
  unsigned flags;
};
using Operation = FloatWord (*)(Long, Long, Width, Flags&);

void check(Operation op, Long a, Long b, Width out, Outcome expected) {
  Flags flags = no_flags;
  const Long got = op(a, b, out, flags);
  INFO(static_cast<std::uint64_t>(got.bits >> 60) << ' ' << static_cast<std::uint64_t>(got.bits));
  CHECK(got == expected.value);
  CHECK(static_cast<unsigned>(flags) == expected.flags);
}

}  // namespace

TEST_CASE("zeros keep the sign of the contract", "[numeric]") {
  check(fadd, zero_minus, zero_minus, Width::Long, {zero_minus, 0});
  check(fadd, zero_plus, zero_minus, Width::Long, {zero_plus, 0});
  check(fsub, zero_minus, zero_plus, Width::Long, {zero_minus, 0});
  check(fsub, one, one, Width::Short, {zero_plus, 0});
  check(fsub, word(1, 1023, 0), word(1, 1023, 0), Width::Long, {zero_plus, 0});
  check(fmul, zero_minus, one, Width::Long, {zero_minus, 0});
  check(dmul, zero_minus, word(1, 1500, 3), Width::Long, {zero_plus, 0});
  // With exponent 0 the fraction is ignored on input and 0 on output; the sign is kept.
  check(fadd, word(1, 0, 12345), word(1, 0, 1), Width::Long, {zero_minus, 0});
  check(fmax, word(1, 0, 99), word(1, 0, 1), Width::Long, {zero_minus, 0});
  check(fadd, word(0, 0, top), one, Width::Long, {one, 0});
}

TEST_CASE("infinities and NaN follow the contract", "[numeric]") {
  const Long nan = word(1, 2047, 5);
  check(fsub, infinity, infinity, Width::Long, {canonical_nan, flag_invalid});
  check(fadd, infinity, minus_infinity, Width::Short, {canonical_nan, flag_invalid});
  check(fadd, minus_infinity, minus_infinity, Width::Long, {minus_infinity, 0});
  check(fmul, zero_minus, infinity, Width::Long, {canonical_nan, flag_invalid});
  check(dmul, minus_infinity, word(0, 0, 7), Width::Short, {canonical_nan, flag_invalid});
  check(fmul, minus_infinity, word(1, 3, 0), Width::Long, {infinity, 0});
  for (const Operation op : {fadd, fsub, fmul, dmul, fmax, fmin}) {
    check(op, nan, infinity, Width::Long, {canonical_nan, 0});
    check(op, zero_plus, nan, Width::Short, {canonical_nan, 0});
  }
  check(fmax, minus_infinity, one, Width::Long, {one, 0});
  check(fmin, minus_infinity, one, Width::Long, {minus_infinity, 0});
}

TEST_CASE("underflow is decided before rounding, overflow after it", "[numeric]") {
  // (2 - 2^-25) * 2^-1023 would round up to 2^-1022; the exact value is below it.
  const Long just_below_two = word(0, 1023, ((std::uint64_t{1} << 24) - 1) << 36);
  const Long half_smallest_factor = word(0, 1022, 0);
  const Long tiny = word(0, 1, ((std::uint64_t{1} << 25) - 1) << 35);
  check(fmul, tiny, half_smallest_factor, Width::Short, {zero_plus, flag_underflow});
  check(fmul, word(1, 1, 0), half_smallest_factor, Width::Long, {zero_minus, flag_underflow});
  check(fmul, smallest, one, Width::Long, {smallest, 0});
  check(fsub, word(0, 1, 1), smallest, Width::Long, {zero_plus, flag_underflow});
  check(fsub, smallest, word(0, 1, 1), Width::Short, {zero_minus, flag_underflow});
  // The largest long rounds up to 2^1024 as a short.
  check(fadd, largest, zero_plus, Width::Short, {infinity, flag_overflow});
  check(fadd, largest, zero_plus, Width::Long, {largest, 0});
  check(fmax, largest, one, Width::Short, {infinity, flag_overflow});
  check(fmul, largest, just_below_two, Width::Long, {infinity, flag_overflow});
}

TEST_CASE("results are rounded once, to nearest even", "[numeric]") {
  // 1 + 2^-25 is a tie of the short format: down to even; with 1 + 2^-24 up to even.
  check(fadd, one, word(0, 1023 - 25, 0), Width::Short, {one, 0});
  check(fadd, word(0, 1023, ulp25), word(0, 1023 - 25, 0), Width::Short,
        {word(0, 1023, 2 * ulp25), 0});
  // A sticky bit however far below breaks the tie, and nothing rounds to 61 bits on the way.
  for (unsigned below = 26; below < 1023; ++below) {
    const Long sticky = word(0, 1023 - below, below % 3);
    check(fadd, word(0, 1023, ulp25 / 2), sticky, Width::Short, {word(0, 1023, ulp25), 0});
    check(fsub, word(0, 1023, ulp25 / 2), sticky, Width::Short, {one, 0});
  }
  check(fsub, one, word(0, 3, 0), Width::Long, {one, 0});
  check(fsub, word(0, 1023, 3 * ulp25 / 2), word(0, 3, 0), Width::Short, {word(0, 1023, ulp25), 0});
}

TEST_CASE("the multiplier truncates its operands to 50 and 25 bits", "[numeric]") {
  const Long below25 = word(0, 1023, ulp25 / 2);               // 1 + 2^-25
  const Long below50 = word(0, 1023, std::uint64_t{1} << 10);  // 1 + 2^-50
  const Long at50 = word(0, 1023, std::uint64_t{1} << 11);     // 1 + 2^-49
  check(fmul, below25, one, Width::Long, {below25, 0});
  check(fmul, one, below25, Width::Long, {one, 0});
  check(dmul, one, below25, Width::Long, {below25, 0});
  check(dmul, below50, one, Width::Long, {one, 0});
  check(dmul, one, below50, Width::Long, {one, 0});
  check(fmul, at50, one, Width::Long, {at50, 0});
  check(dmul, one, at50, Width::Long, {at50, 0});
  // Truncated, not rounded: ones below the last bit have no effect.
  check(fmul, one, word(0, 1023, ulp25 - 1), Width::Long, {one, 0});
  // 1.5 * 1.5 = 2.25
  check(fmul, word(0, 1023, top), word(0, 1023, top), Width::Short, {word(0, 1024, top / 4), 0});
}

TEST_CASE("masks are set from the rounded result", "[numeric]") {
  CHECK(is_negative(word(1, 1, 0)));
  CHECK(is_negative(minus_infinity));
  CHECK_FALSE(is_negative(zero_minus));
  CHECK_FALSE(is_negative(word(1, 2047, 1)));
  CHECK(is_zero(zero_minus));
  CHECK(is_zero(word(1, 0, 77)));
  CHECK_FALSE(is_zero(smallest));
}
