// Conversions of integers, fixed point and single floats, bit by bit.
#include "emulator/numeric/host_numbers.hpp"

#include <bit>
#include <limits>

#include "emulator/numeric/unpacked.hpp"

namespace gdr {
namespace {

/// Beyond every location, for what is too large to be shifted into place.
constexpr i128 beyond = i128{1} << 100;

}  // namespace

u128 saturate(i128 value, Width location, Flags& flags) noexcept {
  const i128 limit = i128{1} << (bit_count(location) - 1);
  if (value >= limit || value < -limit) {
    flags |= flag_overflow;
    value = value < 0 ? -limit : limit - 1;
  }
  return static_cast<u128>(value) & bit_mask(location);
}

u128 to_fixed(double value, unsigned point, Width location, Flags& flags) noexcept {
  const Unpacked x = unpack(long_from_double(value));
  if (x.kind == FloatClass::Nan) {
    flags |= flag_invalid;
    return 0;
  }
  if (x.kind == FloatClass::Zero) return 0;
  // The magnitude is significand * 2^scale, with the significand below 2^61.
  const int scale = x.exponent - 60 + static_cast<int>(point);
  i128 magnitude = beyond;
  if (x.kind == FloatClass::Finite && scale < -62) {
    magnitude = 0;
  } else if (x.kind == FloatClass::Finite && scale <= 0) {
    magnitude = static_cast<i128>(round_shift(x.significand, -scale));
  } else if (x.kind == FloatClass::Finite && scale < 40) {
    magnitude = i128{x.significand} << scale;
  }
  return saturate(x.negative ? -magnitude : magnitude, location, flags);
}

double from_fixed(i128 value, unsigned point) noexcept {
  if (value == 0) return 0.0;
  const bool negative = value < 0;
  const u128 magnitude = static_cast<u128>(negative ? -value : value);
  constexpr FloatRange double_range{53, -1022, 1023};
  Flags none = no_flags;
  const Rounded r = round_once(127 - static_cast<int>(point), magnitude, double_range, none);
  const auto field = static_cast<std::uint64_t>(r.exponent + double_range.max_exponent);
  const std::uint64_t fraction = r.significand & ((std::uint64_t{1} << 52) - 1);
  return std::bit_cast<double>((std::uint64_t{negative} << 63) | (field << 52) | fraction);
}

Long long_from_int(std::int64_t value) noexcept {
  return {static_cast<u128>(static_cast<i128>(value)) & Long::mask};
}

std::int64_t int_from_long(Long word, Flags& flags) noexcept {
  const i128 value = signed_value(word.bits, Width::Long);
  constexpr i128 low = std::numeric_limits<std::int64_t>::min();
  constexpr i128 high = std::numeric_limits<std::int64_t>::max();
  if (value >= low && value <= high) return static_cast<std::int64_t>(value);
  flags |= flag_overflow;
  return static_cast<std::int64_t>(value < 0 ? low : high);
}

Long long_from_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const u128 sign = u128{bits >> 31} << 71;
  const std::uint32_t field = (bits >> 23) & 255;
  const std::uint32_t fraction = bits & 0x7fffffU;
  if (field == 0) return {sign};  // a subnormal is a zero of its sign, as for doubles
  if (field == 255 && fraction != 0) return canonical_nan;
  const std::uint32_t long_field = field == 255 ? 2047 : field + (1023 - 127);
  return {sign | (u128{long_field} << 60) | (u128{fraction} << (60 - 23))};
}

float float_from_long(Long word, Flags& flags) noexcept {
  const Unpacked x = unpack(word);
  const std::uint32_t sign = std::uint32_t{x.negative} << 31;
  constexpr std::uint32_t infinity = 0x7f800000U;
  if (x.kind == FloatClass::Nan) return std::bit_cast<float>(0x7fc00000U);
  if (x.kind == FloatClass::Zero) return std::bit_cast<float>(sign);
  if (x.kind == FloatClass::Infinity) return std::bit_cast<float>(sign | infinity);
  const Rounded r = round_once(x.exponent, u128{x.significand} << 67, single_range, flags);
  if (r.kind == FloatClass::Zero) return std::bit_cast<float>(sign);
  if (r.kind == FloatClass::Infinity) return std::bit_cast<float>(sign | infinity);
  const auto field = static_cast<std::uint32_t>(r.exponent + single_range.max_exponent);
  const auto fraction = static_cast<std::uint32_t>(r.significand) & 0x7fffffU;
  return std::bit_cast<float>(sign | (field << 23) | fraction);
}

}  // namespace gdr
