// Conversions between host numbers and machine words against MPFR and plain integers.
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "emulator/numeric/convert.hpp"
#include "emulator/numeric/integer.hpp"
#include "numeric/flag_letters.hpp"
#include "support/catch.hpp"
#include "support/float_oracle.hpp"
#include "support/iterations.hpp"
#include "support/oracle_cases.hpp"

namespace {

using namespace gdr;  // NOLINT: the names under test
using oracle::Cases;
using oracle::Format;
using oracle::Oracle;
using test::letters;

Format host_format(HostType host) {
  return host == HostType::F32 ? oracle::single_format : oracle::double_format;
}
Format location_format(Width w) {
  return w == Width::Long ? oracle::long_format : oracle::short_format;
}
unsigned size_of(Width w) { return w == Width::Long ? 72 : 36; }

constexpr std::array float_conversions{
    Conversion{HostType::F64, MachineFormat::FloatLong, 0},
    Conversion{HostType::F64, MachineFormat::FloatShort, 0},
    Conversion{HostType::F32, MachineFormat::FloatLong, 0},
    Conversion{HostType::F32, MachineFormat::FloatShort, 0},
};

/// The oracle's conversion of a host float to a location: rounded to short if the format is short,
/// then converted to the width of the location.
oracle::Result expected_word(Oracle& reference, Conversion conversion, Width location,
                             oracle::Word host) {
  const bool is_short = conversion.machine == MachineFormat::FloatShort;
  const Format format = is_short ? oracle::short_format : location_format(location);
  oracle::Result result = reference.evaluate(oracle::Op::Cvt, host, host, format);
  if (is_short && location == Width::Long) result.bits <<= 36;
  return result;
}

/// value * 2^point to an integer, by MPFR, limited to the width by comparing with its limits.
oracle::Result expected_fixed(double value, unsigned point, unsigned width) {
  if (value != value) return {0, "i"};
  mpfr_t scaled;
  mpfr_t limit;
  mpfr_init2(scaled, 200);
  mpfr_init2(limit, 200);
  mpfr_set_d(scaled, std::fpclassify(value) == FP_SUBNORMAL ? 0.0 : value, MPFR_RNDN);
  mpfr_mul_2ui(scaled, scaled, point, MPFR_RNDN);
  mpfr_rint(scaled, scaled, MPFR_RNDN);  // halves to even
  mpfr_set_ui_2exp(limit, 1, static_cast<long>(width) - 1, MPFR_RNDN);
  const oracle::Bits top = oracle::Bits{1} << (width - 1);
  oracle::Result result{0, "o"};
  if (mpfr_cmp(scaled, limit) >= 0) {
    result.bits = top - 1;
  } else if (mpfr_neg(limit, limit, MPFR_RNDN); mpfr_cmp(scaled, limit) < 0) {
    result.bits = top;
  } else {
    mpz_t integer;
    mpz_init(integer);
    mpfr_get_z(integer, scaled, MPFR_RNDN);
    mpz_fdiv_r_2exp(integer, integer, width);
    std::array<std::uint64_t, 2> parts{};
    mpz_export(parts.data(), nullptr, -1, 8, 0, 0, integer);
    mpz_clear(integer);
    result = {(oracle::Bits{parts[1]} << 64) | parts[0], "-"};
  }
  mpfr_clears(scaled, limit, static_cast<mpfr_ptr>(nullptr));
  return result;
}

/// A fixed-point word as a double, by MPFR.
double expected_value(u128 word, unsigned point, unsigned width) {
  const bool negative = (word >> (width - 1)) != 0;
  const u128 magnitude = negative ? (u128{1} << width) - word : word;
  mpfr_t value;
  mpfr_init2(value, 128);
  mpfr_set_ui(value, static_cast<std::uint64_t>(magnitude >> 64), MPFR_RNDN);
  mpfr_mul_2ui(value, value, 64, MPFR_RNDN);
  mpfr_add_ui(value, value, static_cast<std::uint64_t>(magnitude), MPFR_RNDN);
  mpfr_div_2ui(value, value, point, MPFR_RNDN);
  const double result = mpfr_get_d(value, MPFR_RNDN);
  mpfr_clear(value);
  return negative ? -result : result;
}

double draw_for_fixed(Cases& cases, unsigned point) {
  const double any =
      std::bit_cast<double>(static_cast<std::uint64_t>(cases.word(oracle::double_format).bits));
  if (cases.below(4) == 0) return any;
  // Around the last place and around the limits, with ties.
  const int exponent = static_cast<int>(cases.below(80)) - 4 - static_cast<int>(point);
  const auto small = static_cast<double>(static_cast<std::int64_t>(cases.below(64)) - 32) / 4;
  const auto large = static_cast<double>(static_cast<std::int64_t>(cases.bits()) >> 11);
  return cases.below(2) != 0 ? std::ldexp(small, -static_cast<int>(point))
                             : std::ldexp(large, exponent - 52);
}

}  // namespace

TEST_CASE("host floats to machine words and back agree with MPFR", "[numeric][oracle]") {
  Oracle reference;
  Cases cases(gdr::test::first_seed());
  const std::uint64_t each = gdr::test::test_iterations(2'000'000) / 16;
  for (const Conversion conversion : float_conversions) {
    for (const Width location : {Width::Short, Width::Long}) {
      for (std::uint64_t i = 0; i < each; ++i) {
        const oracle::Word host = cases.word(host_format(conversion.host));
        Flags flags = no_flags;
        const u128 got = to_machine(conversion, location, host.bits, flags);
        const auto expected = expected_word(reference, conversion, location, host);
        if (got != expected.bits || letters(flags) != expected.flags) {
          FAIL(conversion_name(conversion) << " of " << oracle::hex(host.bits, host.format));
        }
        const oracle::Word word = cases.word(location_format(location));
        flags = no_flags;
        const u128 back = to_host(conversion, location, word.bits, flags);
        const auto value = reference.evaluate(oracle::Op::Cvt, word, word, host.format);
        if (back != value.bits || letters(flags) != value.flags) {
          FAIL(conversion_name(conversion) << " back of " << oracle::hex(word.bits, word.format));
        }
      }
    }
  }
}

TEST_CASE("doubles round-trip through a long, floats through both formats", "[numeric]") {
  Cases cases(22);
  for (int i = 0; i < 200'000; ++i) {
    const auto bits = static_cast<std::uint64_t>(cases.word(oracle::double_format).bits);
    const auto value = std::bit_cast<double>(bits);
    if (!std::isnormal(value) && value != 0 && !std::isinf(value)) continue;
    Flags flags = no_flags;
    REQUIRE(std::bit_cast<std::uint64_t>(double_from_long(long_from_double(value), flags)) == bits);
    const auto single_bits = static_cast<std::uint32_t>(cases.word(oracle::single_format).bits);
    const auto single = std::bit_cast<float>(single_bits);
    if (!std::isnormal(single) && single != 0 && !std::isinf(single)) continue;
    for (const Width out : {Width::Short, Width::Long}) {
      const Long word = fcvt(long_from_float(single), out, flags);
      REQUIRE(std::bit_cast<std::uint32_t>(float_from_long(word, flags)) == single_bits);
    }
    REQUIRE(flags == no_flags);
  }
}

TEST_CASE("subnormals are zeros of their sign and set no flag", "[numeric]") {
  Flags flags = no_flags;
  const double tiny = std::numeric_limits<double>::denorm_min();
  CHECK(long_from_double(-tiny).bits == u128{1} << 71);
  CHECK(short_from_double(-tiny, flags).bits == u128{1} << 71);
  CHECK(long_from_float(-std::numeric_limits<float>::denorm_min()).bits == u128{1} << 71);
  CHECK(long_from_double(std::bit_cast<double>(0x000fffffffffffffULL)).bits == 0);
  CHECK(to_machine({HostType::F64, MachineFormat::Fixed, 71}, Width::Long, 1, flags) == 0);
  CHECK(flags == no_flags);
  // A value below 2^-126 has no normal float: the result is zero, with the flag for underflow.
  const Long small = long_from_double(-std::ldexp(1.0, -127));
  CHECK(std::bit_cast<std::uint32_t>(float_from_long(small, flags)) == 0x80000000U);
  CHECK(flags == flag_underflow);
}

TEST_CASE("fixed point at every point agrees with MPFR", "[numeric][oracle]") {
  Cases cases(gdr::test::first_seed());
  const std::uint64_t each = gdr::test::test_iterations(2'000'000) / 288 + 1;
  for (unsigned point = 0; point <= 71; ++point) {
    const Conversion conversion{HostType::F64, MachineFormat::Fixed,
                                static_cast<std::uint8_t>(point)};
    for (const Width location : {Width::Short, Width::Long}) {
      const unsigned width = size_of(location);
      for (std::uint64_t i = 0; i < each; ++i) {
        const double value = draw_for_fixed(cases, point);
        Flags flags = no_flags;
        const u128 got =
            to_machine(conversion, location, std::bit_cast<std::uint64_t>(value), flags);
        const auto expected = expected_fixed(value, point, width);
        if (got != expected.bits || letters(flags) != expected.flags) {
          FAIL("point " << point << ", width " << width << ", value " << std::hexfloat << value);
        }
        const u128 random = ((u128{cases.bits()} << 64) | cases.bits()) >> (128 - width);
        const u128 word = random >> cases.below(width);
        flags = no_flags;
        const auto back = static_cast<std::uint64_t>(to_host(conversion, location, word, flags));
        const double exact = expected_value(word, point, width);
        if (back != std::bit_cast<std::uint64_t>(exact) || flags != no_flags) {
          FAIL("point " << point << ", width " << width << ", expected " << std::hexfloat << exact);
        }
      }
    }
  }
}

TEST_CASE("integers convert exactly or saturate with a flag", "[numeric]") {
  constexpr Conversion integer{HostType::I64, MachineFormat::Integer, 0};
  const auto in = [&](std::int64_t value, Width location, Flags& flags) {
    return to_machine(integer, location, static_cast<std::uint64_t>(value), flags);
  };
  const auto out = [&](u128 word, Width location, Flags& flags) {
    return static_cast<std::int64_t>(
        static_cast<std::uint64_t>(to_host(integer, location, word, flags)));
  };
  constexpr auto low = std::numeric_limits<std::int64_t>::min();
  constexpr auto high = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t short_limit = std::int64_t{1} << 35;

  Flags flags = no_flags;
  Cases cases(24);
  for (int i = 0; i < 100'000; ++i) {
    const auto value = static_cast<std::int64_t>(cases.bits()) >> cases.below(64);
    REQUIRE(out(in(value, Width::Long, flags), Width::Long, flags) == value);
    REQUIRE(int_from_long(long_from_int(value), flags) == value);
    if (value >= -short_limit && value < short_limit) {
      REQUIRE(out(in(value, Width::Short, flags), Width::Short, flags) == value);
    }
  }
  CHECK(in(-1, Width::Long, flags) == Long::mask);
  CHECK(in(low, Width::Long, flags) == (Long::mask ^ ((u128{1} << 63) - 1)));
  CHECK(in(short_limit - 1, Width::Short, flags) == u128{Short::mask >> 1});
  CHECK(flags == no_flags);

  const auto saturates = [&](auto got, auto expected) {
    CHECK(got == expected);
    CHECK(flags == flag_overflow);
    flags = no_flags;
  };
  saturates(in(short_limit, Width::Short, flags), u128{Short::mask >> 1});
  saturates(in(-short_limit - 1, Width::Short, flags), u128{1} << 35);
  saturates(in(high, Width::Short, flags), u128{Short::mask >> 1});
  saturates(in(low, Width::Short, flags), u128{1} << 35);
  saturates(out(u128{1} << 63, Width::Long, flags), high);
  saturates(out(u128{1} << 71, Width::Long, flags), low);
  saturates(out(Long::mask ^ ((u128{1} << 64) - 1), Width::Long, flags), low);
}

TEST_CASE("raw words keep their bits", "[numeric]") {
  Cases cases(25);
  constexpr Conversion raw{HostType::Raw, MachineFormat::Raw, 0};
  Flags flags = no_flags;
  for (int i = 0; i < 1000; ++i) {
    const u128 bits = (u128{cases.bits()} << 64) | cases.bits();
    for (const Width location : {Width::Short, Width::Long}) {
      const u128 word = to_machine(raw, location, bits, flags);
      REQUIRE(word == (bits & bit_mask(location)));
      REQUIRE(to_host(raw, location, word, flags) == word);
    }
  }
  CHECK(flags == no_flags);
}

TEST_CASE("conversion names are found", "[numeric]") {
  for (const auto& row : conversion_table()) {
    const bool fixed = row.machine == MachineFormat::Fixed;
    const auto found = find_conversion(std::string(row.name) + (fixed ? ".40" : ""));
    REQUIRE(found.has_value());
    CHECK(found->host == row.host);
    CHECK(found->machine == row.machine);
    CHECK(found->point == (fixed ? 40 : 0));
    CHECK(conversion_name(*found) == row.name);
  }
  CHECK(find_conversion("f64fix.0").has_value());
  CHECK(find_conversion("f64fix.71").has_value());
  for (const char* bad : {"", ".", "f64", "f64fix", "f64fix.", "f64fix.72", "f64fix.-1", "raw.0",
                          "f64fix.4x", "f64fix.4294967297", "F64TO72", "f64to72 ", "f64to72.3"}) {
    INFO(bad);
    CHECK_FALSE(find_conversion(bad).has_value());
  }
  CHECK(half_words({HostType::F64, MachineFormat::FloatLong, 0}, Width::Long) == 2);
  CHECK(half_words({HostType::F32, MachineFormat::FloatLong, 0}, Width::Long) == 1);
  CHECK(half_words({HostType::I64, MachineFormat::Integer, 0}, Width::Short) == 2);
  CHECK(half_words({HostType::Raw, MachineFormat::Raw, 0}, Width::Long) == 4);
  CHECK(half_words({HostType::Raw, MachineFormat::Raw, 0}, Width::Short) == 2);
}
