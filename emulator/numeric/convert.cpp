// Conversions by integer arithmetic: nothing depends on the rounding mode of a host thread, or on
// its flushing of subnormals.
#include "emulator/numeric/convert.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "emulator/numeric/integer.hpp"
#include "emulator/numeric/unpacked.hpp"

namespace gdr {
namespace {

constexpr std::array conversions{
    ConversionName{"f64to72", HostType::F64, MachineFormat::FloatLong, "double, long float"},
    ConversionName{"f64to36", HostType::F64, MachineFormat::FloatShort, "double, short float"},
    ConversionName{"f32to72", HostType::F32, MachineFormat::FloatLong, "float, long float"},
    ConversionName{"f32to36", HostType::F32, MachineFormat::FloatShort, "float, short float"},
    ConversionName{"i64int", HostType::I64, MachineFormat::Integer, "64-bit integer, integer word"},
    ConversionName{"f64fix", HostType::F64, MachineFormat::Fixed,
                   "double, fixed point with the given number of bits below the point"},
    ConversionName{"raw", HostType::Raw, MachineFormat::Raw, "the bits themselves"},
    ConversionName{"i64low", HostType::I64, MachineFormat::LowInteger,
                   "64-bit integer, short integer word in the lower half of a long"},
    ConversionName{
        "f64high", HostType::F64, MachineFormat::HighFloat,
        "double, short float in the upper half of a long whose lower half is not looked at"},
};

/// Beyond every location, for what is too large to be shifted into place.
constexpr i128 beyond = i128{1} << 100;

/// The nearest integer word of a location's width: outside its range the limit and flag_overflow.
u128 saturate(i128 value, Width location, Flags& flags) noexcept {
  const i128 limit = i128{1} << (bit_count(location) - 1);
  if (value >= limit || value < -limit) {
    flags |= flag_overflow;
    value = value < 0 ? -limit : limit - 1;
  }
  return static_cast<u128>(value) & bit_mask(location);
}

/// value * 2^point to the nearest integer (halves to even), saturating at the location's width;
/// a NaN gives 0 and flag_invalid, a subnormal is a zero.
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

/// value / 2^point, rounded once to a double. No such value leaves the range of doubles.
double from_fixed(i128 value, unsigned point) noexcept {
  if (value == 0) return 0.0;
  const bool negative = value < 0;
  const u128 magnitude = static_cast<u128>(negative ? -value : value);
  constexpr FloatFormat double_format{53, -1022, 1023};
  Flags none = no_flags;
  const Rounded r = round_once(127 - static_cast<int>(point), magnitude, double_format, none);
  const auto field = static_cast<std::uint64_t>(r.exponent + double_format.max_exponent);
  const std::uint64_t fraction = r.significand & ((std::uint64_t{1} << 52) - 1);
  return std::bit_cast<double>((std::uint64_t{negative} << 63) | (field << 52) | fraction);
}

u128 float_to_host(Conversion conversion, Long value, Flags& flags) noexcept {
  if (conversion.host == HostType::F32) {
    return std::bit_cast<std::uint32_t>(float_from_long(value, flags));
  }
  return std::bit_cast<std::uint64_t>(double_from_long(value, flags));
}

Long float_from_host(HostType host, u128 bits) noexcept {
  if (host == HostType::F32) {
    return long_from_float(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return long_from_double(std::bit_cast<double>(static_cast<std::uint64_t>(bits)));
}

}  // namespace

std::span<const ConversionName> conversion_table() noexcept { return conversions; }

std::optional<Conversion> find_conversion(std::string_view text) noexcept {
  unsigned point = 0;
  std::string_view name = text;
  const auto dot = text.find('.');
  if (dot != std::string_view::npos) {
    name = text.substr(0, dot);
    const auto digits = text.substr(dot + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), point);
    if (error != std::errc{} || end != digits.data() + digits.size() || point > 71) return {};
  }
  for (const auto& row : conversions) {
    const bool takes_point = row.machine == MachineFormat::Fixed;
    if (row.name == name && takes_point == (dot != std::string_view::npos)) {
      return Conversion{row.host, row.machine, static_cast<std::uint8_t>(point)};
    }
  }
  return {};
}

std::string_view conversion_name(Conversion conversion) noexcept {
  for (const auto& row : conversions) {
    if (row.host == conversion.host && row.machine == conversion.machine) return row.name;
  }
  return "?";
}

unsigned half_words(Conversion conversion, Width location) noexcept {
  if (conversion.host == HostType::F32) return 1;
  return conversion.host == HostType::Raw && location == Width::Long ? 4 : 2;
}

u128 to_machine(Conversion conversion, Width location, u128 host, Flags& flags) noexcept {
  const auto low = static_cast<std::uint64_t>(host);
  switch (conversion.machine) {
    case MachineFormat::FloatLong:
    case MachineFormat::FloatShort:
    case MachineFormat::HighFloat: {
      const Width format = conversion.machine == MachineFormat::FloatLong ? location : Width::Short;
      return narrow_float(fcvt(float_from_host(conversion.host, host), format, flags), location)
          .bits;
    }
    case MachineFormat::Integer:
      return saturate(static_cast<std::int64_t>(low), location, flags);
    case MachineFormat::Fixed:
      return to_fixed(std::bit_cast<double>(low), conversion.point, location, flags);
    case MachineFormat::LowInteger:
      return saturate(static_cast<std::int64_t>(low), Width::Short, flags);
    case MachineFormat::Raw:
      break;
  }
  return host & bit_mask(location);
}

u128 to_host(Conversion conversion, Width location, u128 word, Flags& flags) noexcept {
  switch (conversion.machine) {
    case MachineFormat::FloatLong:
    case MachineFormat::FloatShort:
      return float_to_host(conversion, widen_float(Long{word}, location), flags);
    case MachineFormat::Integer: {
      const Long wide{int_operand(word, location, Width::Long, true)};
      return static_cast<std::uint64_t>(int_from_long(wide, flags));
    }
    case MachineFormat::Fixed:
      return std::bit_cast<std::uint64_t>(
          from_fixed(signed_value(word, location), conversion.point));
    case MachineFormat::HighFloat:
      return float_to_host(conversion, widen_float(upper_half(widen_float(Long{word}, location))),
                           flags);
    case MachineFormat::LowInteger:
      return static_cast<std::uint64_t>(signed_value(word & bit_mask(Width::Short), Width::Short));
    case MachineFormat::Raw:
      break;
  }
  return word & bit_mask(location);
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
  const Rounded r = round_once(x.exponent, u128{x.significand} << 67, single_format, flags);
  if (r.kind == FloatClass::Zero) return std::bit_cast<float>(sign);
  if (r.kind == FloatClass::Infinity) return std::bit_cast<float>(sign | infinity);
  const auto field = static_cast<std::uint32_t>(r.exponent + single_format.max_exponent);
  const auto fraction = static_cast<std::uint32_t>(r.significand) & 0x7fffffU;
  return std::bit_cast<float>(sign | (field << 23) | fraction);
}

}  // namespace gdr
