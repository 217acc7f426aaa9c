// Every operation, in every mix of formats, against MPFR on millions of random and edge operands.
#include "support/float_oracle.hpp"

#include <array>
#include <bit>
#include <vector>

#include "emulator/numeric/float.hpp"
#include "numeric/flag_letters.hpp"
#include "support/catch.hpp"
#include "support/iterations.hpp"
#include "support/oracle_cases.hpp"

namespace {

using gdr::test::letters;
using oracle::Op;

gdr::Long operand(oracle::Word w) {
  if (w.format == oracle::long_format) return {w.bits};
  const auto bits = static_cast<std::uint64_t>(w.bits);
  if (w.format == oracle::short_format) return gdr::widen_float({bits});
  return gdr::long_from_double(std::bit_cast<double>(bits));
}

gdr::FloatWord apply(Op op, gdr::Long a, gdr::Long b, gdr::Width out, gdr::Flags& flags) {
  switch (op) {
    case Op::Fadd:
      return fadd(a, b, out, flags);
    case Op::Fsub:
      return fsub(a, b, out, flags);
    case Op::Fmul:
      return fmul(a, b, out, flags);
    case Op::Dmul:
      return dmul(a, b, out, flags);
    case Op::Fmax:
      return fmax(a, b, out, flags);
    case Op::Fmin:
      return fmin(a, b, out, flags);
    case Op::Cvt:
      break;
  }
  return fcvt(a, out, flags);
}

oracle::Result machine(const oracle::Case& c) {
  gdr::Flags flags = gdr::no_flags;
  const gdr::Long a = operand(c.a);
  const gdr::Long b = operand(c.b);
  if (c.out == oracle::double_format) {
    const double result = double_from_long(a, flags);
    return {std::bit_cast<std::uint64_t>(result), letters(flags)};
  }
  if (c.out == oracle::long_format) {
    const gdr::Long result = apply(c.op, a, b, gdr::Width::Long, flags);
    return {result.bits, letters(flags)};
  }
  const gdr::Long result = apply(c.op, a, b, gdr::Width::Short, flags);
  if (lower_half(result).bits != 0) return {result.bits, "a short with a lower half"};
  return {upper_half(result).bits, letters(flags)};
}

/// Coverage of the random cases.
struct Reached {
  std::uint64_t overflow = 0, underflow = 0, invalid = 0;
};

std::uint64_t compare(Op op, std::uint64_t seed, std::uint64_t count, Reached& reached) {
  oracle::Oracle reference;
  oracle::Cases cases(seed);
  for (std::uint64_t i = 0; i < count; ++i) {
    const oracle::Case c = cases.next(op);
    const oracle::Result expected = reference.evaluate(c.op, c.a, c.b, c.out);
    const oracle::Result got = machine(c);
    reached.overflow += expected.flags == "o" ? 1 : 0;
    reached.underflow += expected.flags == "u" ? 1 : 0;
    reached.invalid += expected.flags == "i" ? 1 : 0;
    if (!(got == expected)) {
      FAIL_CHECK(describe(c.op, c.a, c.b, c.out)
                 << " gives " << oracle::hex(got.bits, c.out) << ' ' << got.flags << ", expected "
                 << oracle::hex(expected.bits, c.out) << ' ' << expected.flags << " (case " << i
                 << " of seed " << seed << ')');
      return i;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("floating point agrees with MPFR on random and edge operands", "[numeric][oracle]") {
  constexpr std::array ops{Op::Fadd, Op::Fsub, Op::Fmul, Op::Dmul, Op::Fmax, Op::Fmin, Op::Cvt};
  const std::uint64_t each = gdr::test::test_iterations(10'000'000) / ops.size();
  std::array<std::uint64_t, ops.size()> done{};
  std::array<Reached, ops.size()> reached{};
  for (std::size_t i = 0; i < ops.size(); ++i)
    done[i] = compare(ops[i], gdr::test::first_seed() + i, each, reached[i]);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    INFO(name_of(ops[i]));
    CHECK(done[i] == each);
    if (each < 10'000) continue;
    CHECK(reached[i].overflow > each / 1000);
    if (ops[i] == Op::Fmul || ops[i] == Op::Dmul) {
      CHECK(reached[i].underflow > each / 1000);
    }
    if (i < 4) CHECK(reached[i].invalid > 0);
    if (i < 2) CHECK(reached[i].underflow > 0);  // a cancellation among the smallest numbers
  }
}

TEST_CASE("every pair of special operands agrees with MPFR", "[numeric][oracle]") {
  using oracle::Bits;
  oracle::Oracle reference;
  std::vector<oracle::Word> words;
  for (const auto format : {oracle::short_format, oracle::long_format}) {
    const std::uint64_t all = (std::uint64_t{1} << format.fraction_bits) - 1;
    for (const int field : {0, 1, 2, 24, 25, 60, 61, 1022, 1023, 1024, 1985, 2045, 2046, 2047}) {
      for (const std::uint64_t fraction :
           {std::uint64_t{0}, std::uint64_t{1}, all >> 1, all / 2 + 1, all - 1, all}) {
        for (const unsigned sign : {0U, 1U}) {
          words.push_back({format, (Bits{sign} << (format.width() - 1)) |
                                       (static_cast<Bits>(field) << format.fraction_bits) |
                                       fraction});
        }
      }
    }
  }
  std::uint64_t different = 0;
  for (const auto op : {Op::Fadd, Op::Fsub, Op::Fmul, Op::Dmul, Op::Fmax, Op::Fmin}) {
    for (const auto& a : words) {
      for (const auto& b : words) {
        for (const auto out : {oracle::short_format, oracle::long_format}) {
          if (machine({op, a, b, out}) == reference.evaluate(op, a, b, out)) continue;
          if (++different < 5) FAIL_CHECK(describe(op, a, b, out));
        }
      }
    }
  }
  CHECK(different == 0);
}
