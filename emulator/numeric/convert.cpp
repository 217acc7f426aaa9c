// The table of conversions, and the way from a declared one to the function that does it.
#include "emulator/numeric/convert.hpp"

#include <array>
#include <bit>
#include <charconv>

#include "emulator/numeric/host_numbers.hpp"

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

Long as_long_float(u128 word, Width location) noexcept {
  return location == Width::Long ? Long{word}
                                 : widen_float(Short{static_cast<std::uint64_t>(word)});
}

u128 float_to_location(Long value, Width location) noexcept {
  return location == Width::Long ? value.bits : u128{upper_half(value).bits};
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
  switch (conversion.host) {
    case HostType::F32:
      return 1;
    case HostType::Raw:
      return location == Width::Long ? 4 : 2;
    case HostType::F64:
    case HostType::I64:
      break;
  }
  return 2;
}

u128 to_machine(Conversion conversion, Width location, u128 host, Flags& flags) noexcept {
  const auto low = static_cast<std::uint64_t>(host);
  switch (conversion.machine) {
    case MachineFormat::FloatLong:
      return float_to_location(fcvt(float_from_host(conversion.host, host), location, flags),
                               location);
    case MachineFormat::FloatShort:
    case MachineFormat::HighFloat:
      return float_to_location(fcvt(float_from_host(conversion.host, host), Width::Short, flags),
                               location);
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
      return float_to_host(conversion, as_long_float(word, location), flags);
    case MachineFormat::Integer: {
      const Long wide{int_operand(word, location, Width::Long, true)};
      return static_cast<std::uint64_t>(int_from_long(wide, flags));
    }
    case MachineFormat::Fixed:
      return std::bit_cast<std::uint64_t>(
          from_fixed(signed_value(word, location), conversion.point));
    case MachineFormat::HighFloat:
      return float_to_host(conversion, widen_float(upper_half(as_long_float(word, location))),
                           flags);
    case MachineFormat::LowInteger:
      return static_cast<std::uint64_t>(signed_value(word & bit_mask(Width::Short), Width::Short));
    case MachineFormat::Raw:
      break;
  }
  return word & bit_mask(location);
}

}  // namespace gdr
