// Words as text, and back.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "emulator/isa/geometry.hpp"
#include "emulator/numeric/float.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/cli/debug/locations.hpp"

namespace gdr::cli {
namespace {

[[noreturn]] void refuse_value(std::string_view text, std::string_view why) {
  throw usage_error("'{}': {}", text, why);
}

/// Whether the bits, as a number without a declared type, are more likely a float: its exponent is
/// moderate, or all bits are zero.
bool looks_like_float(const MachineBits& bits, bool is_long) {
  const std::uint64_t upper = is_long ? bits.upper : bits.lower;
  if (upper == 0 && bits.lower == 0) return true;
  const auto exponent = static_cast<int>((upper >> 24) & 2047);
  return std::abs(exponent - 1023) < 400;
}

u128 joined(const MachineBits& bits, bool is_long) {
  return is_long ? (u128{bits.upper} << Short::bit_count) | bits.lower : u128{bits.lower};
}

std::uint64_t short_bits(double value) {
  Flags ignored = no_flags;
  const Long rounded = short_from_double(value, ignored);
  return upper_half(rounded).bits;
}

/// The fewest digits that tell the number from its neighbours, or seven.
std::string float_text(const MachineBits& bits, bool is_long, bool brief) {
  const std::string all =
      word_text(joined(bits, is_long), is_long ? Width::Long : Width::Short, DumpFormat::Float, 0);
  const auto value = parse_all<double>(all);
  if (!value || !std::isfinite(*value)) return all;
  if (brief) return fmt::format("{:.7g}", *value);
  if (is_long) {
    const bool is_double = long_from_double(*value).bits == joined(bits, true);
    return is_double ? fmt::format("{}", *value) : all;
  }
  for (int digits = 1; digits < 9; ++digits) {
    std::string text = fmt::format("{:.{}g}", *value, digits);
    if (short_bits(parse_all<double>(text).value_or(0)) == bits.lower) return text;
  }
  return all;
}

}  // namespace

WordFormat format_of(std::string_view conversion) {
  if (conversion.empty()) return {};
  if (conversion.starts_with("f64fix.")) {
    const auto point = parse_all<unsigned>(conversion.substr(7));
    return {DumpFormat::Fixed, point.value_or(0)};
  }
  if (conversion.starts_with("i64")) return {DumpFormat::Int, 0};
  if (conversion == "raw") return {DumpFormat::Hex, 0};
  return {DumpFormat::Float, 0};
}

std::optional<WordFormat> parse_format(std::string_view word) {
  if (word == "hex") return WordFormat{DumpFormat::Hex, 0};
  if (word == "int") return WordFormat{DumpFormat::Int, 0};
  if (word == "float") return WordFormat{DumpFormat::Float, 0};
  if (!word.starts_with("fixed.")) return std::nullopt;
  const auto point = parse_all<unsigned>(word.substr(6));
  if (!point || *point > 71)
    throw usage_error("fixed takes its binary point from 0 to 71, as in fixed.40");
  return WordFormat{DumpFormat::Fixed, *point};
}

std::string location_text(const MachineWord& word) {
  const std::string_view width = word.is_long ? "l" : "";
  switch (word.memory) {
    case MachineMemory::Registers:
      return fmt::format("${}r{}", width, word.address);
    case MachineMemory::Local:
      return fmt::format("${}m{}", width, word.address);
    case MachineMemory::Broadcast:
      return fmt::format("${}b{}", width, word.address);
    case MachineMemory::T:
      return fmt::format("$t{}[{}]",
                         word.is_long            ? ""
                         : word.address % 2 == 0 ? "h"
                                                 : "l",
                         word.address / 2);
    case MachineMemory::Masks:
      break;
  }
  return fmt::format("m{}[{}]", word.address / max_elements, word.address % max_elements);
}

std::string pe_text(const MachineWord& word) {
  if (word.memory == MachineMemory::Broadcast) return fmt::format("block {}", word.block);
  return fmt::format("block {}, PE {}", word.block, word.pe);
}

std::string hex_text(const MachineBits& bits, const MachineWord& word) {
  if (word.memory == MachineMemory::Masks) return bits.lower != 0 ? "1" : "0";
  return word_text(joined(bits, word.is_long), word.is_long ? Width::Long : Width::Short,
                   DumpFormat::Hex, 0);
}

std::string value_text(const MachineBits& bits, const MachineWord& word, const WordFormat& format,
                       bool brief) {
  if (word.memory == MachineMemory::Masks) return bits.lower != 0 ? "1" : "0";
  const bool is_float = looks_like_float(bits, word.is_long);
  const DumpFormat guess = is_float ? DumpFormat::Float : DumpFormat::Hex;
  const DumpFormat chosen = format.format.value_or(guess);
  if (chosen == DumpFormat::Float) return float_text(bits, word.is_long, brief);
  const std::string text = word_text(
      joined(bits, word.is_long), word.is_long ? Width::Long : Width::Short, chosen, format.point);
  return chosen == DumpFormat::Hex ? "0x" + text : text;
}

long double number_of(const MachineBits& bits, const MachineWord& word, const WordFormat& format) {
  WordFormat shown = format;
  if (!shown.format) shown.format = DumpFormat::Float;
  // The text has all digits of a float, and is decimal or 0x and hex digits.
  const std::string text = value_text(bits, word, shown);
  const auto value = text.starts_with("0x")
                         ? parse_all<long double>(text.substr(2), std::chars_format::hex)
                         : parse_all<long double>(text);
  return value.value_or(0);
}

MachineBits parse_value(std::string_view text, const MachineWord& word, const WordFormat& format) {
  const bool mask = word.memory == MachineMemory::Masks;
  const bool is_long = word.is_long && !mask;
  const std::size_t digits = is_long ? 18 : 9;
  const auto bits_of = [is_long](u128 bits) {
    const auto low = static_cast<std::uint64_t>(bits & Short::mask);
    return is_long ? MachineBits{static_cast<std::uint64_t>((bits & Long::mask) >> 36), low}
                   : MachineBits{0, low};
  };
  if (text.starts_with("0x") && !mask) {
    const std::string_view hex = text.substr(2);
    const std::size_t low_digits = std::min<std::size_t>(hex.size(), 9);
    const auto low = parse_all<std::uint64_t>(hex.substr(hex.size() - low_digits), 16);
    const auto high = hex.size() > 9 ? parse_all<std::uint64_t>(hex.substr(0, hex.size() - 9), 16)
                                     : std::optional<std::uint64_t>(0);
    if (hex.empty() || hex.size() > digits || !low || !high)
      refuse_value(text,
                   fmt::format("the bits of this word are 0x and up to {} hex digits", digits));
    return bits_of((u128{*high} << 36) | *low);
  }
  const DumpFormat chosen = mask ? DumpFormat::Int : format.format.value_or(DumpFormat::Float);
  if (chosen == DumpFormat::Int) {
    const auto value = parse_all<std::int64_t>(text);
    if (!value) refuse_value(text, "expected an integer, or 0x and hex digits");
    if (mask && *value != 0 && *value != 1) refuse_value(text, "a mask is 0 or 1");
    const std::int64_t limit = std::int64_t{1} << 35;
    if (!is_long && (*value >= limit || *value < -limit))
      refuse_value(text, "the number does not fit into the 36 bits of a short");
    return bits_of(static_cast<u128>(static_cast<i128>(*value)));
  }
  const auto value = parse_all<double>(text);
  if (!value) refuse_value(text, "expected a number, or 0x and hex digits");
  if (chosen == DumpFormat::Fixed) {
    const double scaled = std::nearbyint(std::ldexp(*value, static_cast<int>(format.point)));
    if (!(std::abs(scaled) < std::ldexp(1.0, is_long ? 71 : 35)))
      refuse_value(text, "the number does not fit into the word");
    return bits_of(static_cast<u128>(static_cast<i128>(scaled)));
  }
  if (is_long) return bits_of(long_from_double(*value).bits);
  return {0, short_bits(*value)};
}

}  // namespace gdr::cli
