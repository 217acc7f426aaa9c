// The integer unit against GMP: both widths, operands of mixed widths, all shift counts, carries.
#include <array>
#include <string>
#include <vector>

#include "emulator/numeric/integer.hpp"
#include "numeric/big_integer.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"
#include "support/oracle_cases.hpp"

namespace {

using gdr::IntResult;
using gdr::IntWord;
using gdr::u128;
using gdr::Width;
using oracle::Integer;

constexpr unsigned bits_of(Width w) { return w == Width::Long ? 72 : 36; }

/// A word of the width: limits and their neighbours, small counts, runs of ones, random bits.
IntWord draw(oracle::Cases& cases, Width w) {
  const unsigned n = bits_of(w);
  const u128 all = (u128{1} << n) - 1;
  const u128 random = ((u128{cases.bits()} << 64) | cases.bits()) & all;
  switch (cases.below(8)) {
    case 0:
      return cases.below(80);
    case 1:
      return (u128{0} - 1 - cases.below(80)) & all;
    case 2:
      return ((u128{1} << (n - 1)) + cases.below(5) - 2) & all;
    case 3:
      return ((u128{1} << cases.below(n)) + cases.below(3) - 1) & all;
    case 4:
      return (random << cases.below(n)) & all;
    case 5:
      return random >> cases.below(n);
    default:
      return random;
  }
}

struct Expected {
  u128 value;
  bool carry;
};

enum class Signs { Signed, Unsigned };

/// One operation: that of the library, and the same with GMP.
struct Row {
  const char* name;
  Signs signs;  ///< how a short operand of a long operation widens
  IntResult (*apply)(IntWord a, IntWord b, Width w);
  Expected (*expect)(const Integer& a, const Integer& b, unsigned width);
};

// The oracle's operands are signed values for signed operations, unsigned ones for the others.
const std::vector<Row> rows{
    {"iadd", Signs::Unsigned, gdr::iadd,
     [](const Integer& a, const Integer& b, unsigned n) {
       const Integer sum = a + b;
       return Expected{sum.low_bits(n), !(sum < Integer::power_of_two(n))};
     }},
    {"isub", Signs::Unsigned, gdr::isub,
     [](const Integer& a, const Integer& b, unsigned n) {
       return Expected{(a - b).low_bits(n), !(a < b)};
     }},
    {"iand", Signs::Unsigned, gdr::iand,
     [](const Integer& a, const Integer& b, unsigned n) {
       return Expected{(a & b).low_bits(n), false};
     }},
    {"ior", Signs::Unsigned, gdr::ior,
     [](const Integer& a, const Integer& b, unsigned n) {
       return Expected{(a | b).low_bits(n), false};
     }},
    {"ixor", Signs::Unsigned, gdr::ixor,
     [](const Integer& a, const Integer& b, unsigned n) {
       return Expected{(a ^ b).low_bits(n), false};
     }},
    {"inot", Signs::Unsigned, gdr::inot,
     [](const Integer& a, const Integer&, unsigned n) {
       return Expected{(Integer(-1) - a).low_bits(n), false};
     }},
    {"imax", Signs::Signed, gdr::imax,
     [](const Integer& a, const Integer& b, unsigned n) {
       return Expected{(a < b ? b : a).low_bits(n), false};
     }},
    {"imin", Signs::Signed, gdr::imin,
     [](const Integer& a, const Integer& b, unsigned n) {
       return Expected{(a < b ? a : b).low_bits(n), false};
     }},
    {"umax", Signs::Unsigned, gdr::umax,
     [](const Integer& a, const Integer& b, unsigned n) {
       return Expected{(a < b ? b : a).low_bits(n), false};
     }},
    {"umin", Signs::Unsigned, gdr::umin,
     [](const Integer& a, const Integer& b, unsigned n) {
       return Expected{(a < b ? a : b).low_bits(n), false};
     }},
    {"ipass", Signs::Unsigned, gdr::ipass,
     [](const Integer& a, const Integer&, unsigned n) {
       return Expected{a.low_bits(n), false};
     }},
};

/// The operand by the contract: its value in its own width, modulo that of the operation.
Integer widened(IntWord x, Width from, Width to, Signs signs) {
  const unsigned n = bits_of(to);
  const Integer value =
      signs == Signs::Signed ? Integer::from_signed(x, bits_of(from)) : Integer::from_bits(x);
  const u128 bits = value.low_bits(n);
  return signs == Signs::Signed ? Integer::from_signed(bits, n) : Integer::from_bits(bits);
}

Integer shifted(const Integer& a, unsigned count, bool left) {
  const Integer power = Integer::power_of_two(count);
  return left ? a * power : floor_divide(a, power);
}

}  // namespace

TEST_CASE("the integer unit agrees with GMP in both widths and mixed ones", "[numeric][oracle]") {
  constexpr std::array widths{Width::Short, Width::Long};
  const std::uint64_t each = gdr::test::test_iterations(3'000'000) / rows.size();
  std::uint64_t carries = 0;
  for (const Row& row : rows) {
    oracle::Cases cases(gdr::test::first_seed());
    for (std::uint64_t i = 0; i < each; ++i) {
      const Width from_a = widths[cases.below(2)];
      const Width from_b = widths[cases.below(2)];
      const Width to = widths[cases.below(2)];
      const IntWord a = draw(cases, from_a);
      IntWord b = draw(cases, from_b);
      if (from_a == from_b && cases.below(8) == 0) b = a;
      const bool with_sign = row.signs == Signs::Signed;
      const IntResult got = row.apply(gdr::int_operand(a, from_a, to, with_sign),
                                      gdr::int_operand(b, from_b, to, with_sign), to);
      const Expected expected = row.expect(widened(a, from_a, to, row.signs),
                                           widened(b, from_b, to, row.signs), bits_of(to));
      carries += expected.carry ? 1 : 0;
      if (got.value == expected.value && got.carry == expected.carry) continue;
      const oracle::Format bits{0, static_cast<int>(bits_of(to)) - 1};
      FAIL(row.name << " of " << oracle::hex(a, {0, 71}) << " and " << oracle::hex(b, {0, 71})
                    << " gives " << oracle::hex(got.value, bits) << ", expected "
                    << oracle::hex(expected.value, bits));
    }
  }
  CHECK(carries > 1000);
}

TEST_CASE("shifts by every count, and by counts far beyond the width", "[numeric][oracle]") {
  oracle::Cases cases(11);
  for (const Width w : {Width::Short, Width::Long}) {
    const unsigned n = bits_of(w);
    std::vector<u128> counts;
    for (unsigned i = 0; i <= 140; ++i) counts.push_back(i);
    for (const unsigned bit : {8U, 16U, 31U, 32U, 35U, 63U, 64U, 71U}) {
      // Counts whose low bits alone would be small: the whole unsigned word is the count.
      if (bit < n) counts.insert(counts.end(), {u128{1} << bit, (u128{1} << bit) + 3});
    }
    counts.push_back((u128{1} << n) - 1);
    for (const u128 count : counts) {
      const unsigned steps = count < 200 ? static_cast<unsigned>(count) : 200;
      for (int i = 0; i < 200; ++i) {
        const IntWord x = draw(cases, w);
        const Integer plain = Integer::from_bits(x);
        const IntResult left = gdr::ishl(x, count, w);
        const IntResult right = gdr::ishr(x, count, w);
        const IntResult arithmetic = gdr::iasr(x, count, w);
        REQUIRE(left.value == shifted(plain, steps, true).low_bits(n));
        REQUIRE(right.value == shifted(plain, steps, false).low_bits(n));
        REQUIRE(arithmetic.value == shifted(Integer::from_signed(x, n), steps, false).low_bits(n));
        REQUIRE_FALSE((left.carry || right.carry || arithmetic.carry));
      }
    }
  }
}

TEST_CASE("integer flags agree with GMP", "[numeric]") {
  const u128 top_long = u128{1} << 71;
  CHECK(gdr::sign_of(top_long, Width::Long));
  CHECK_FALSE(gdr::sign_of(top_long - 1, Width::Long));
  CHECK(gdr::sign_of(u128{1} << 35, Width::Short));
  CHECK_FALSE(gdr::sign_of((u128{1} << 35) - 1, Width::Short));

  // Carry: out of an addition; "no borrow" of a subtraction.
  CHECK(gdr::iadd(gdr::Long::mask, 1, Width::Long).carry);
  CHECK(gdr::iadd(gdr::Long::mask, 1, Width::Long).value == 0);
  CHECK_FALSE(gdr::iadd(gdr::Long::mask - 1, 1, Width::Long).carry);
  CHECK(gdr::iadd(gdr::Short::mask, gdr::Short::mask, Width::Short).carry);
  CHECK(gdr::isub(5, 5, Width::Long).carry);
  CHECK_FALSE(gdr::isub(4, 5, Width::Long).carry);
  CHECK(gdr::isub(4, 5, Width::Short).value == gdr::Short::mask);
}
