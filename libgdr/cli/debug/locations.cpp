#include "libgdr/cli/debug/locations.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "emulator/isa/geometry.hpp"
#include "emulator/numeric/float.hpp"
#include "emulator/numeric/words.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/device/names.hpp"

namespace gdr::cli {
namespace {

/// A memory by its prefix in assembly.
struct Prefix {
  std::string_view text;
  MachineMemory memory;
  bool is_long;
};
constexpr std::array<Prefix, 6> prefixes{{{"lr", MachineMemory::Registers, true},
                                          {"lm", MachineMemory::Local, true},
                                          {"lb", MachineMemory::Broadcast, true},
                                          {"r", MachineMemory::Registers, false},
                                          {"m", MachineMemory::Local, false},
                                          {"b", MachineMemory::Broadcast, false}}};

/// T and its halves.
struct TName {
  std::string_view text;
  bool is_long;
  std::size_t half;
};
constexpr std::array<TName, 3> t_names{{{"t", true, 0}, {"th", false, 0}, {"tl", false, 1}}};

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw usage_error("'{}': {}", text, why);
}

/// A location in assembly or a mask; nothing for other texts.
std::optional<Location> raw_location(std::string_view text, std::size_t elements) {
  const bool dollar = text.starts_with('$');
  std::string_view rest = text.substr(dollar ? 1 : 0);
  Location out;
  out.name = text;
  for (const TName& t : t_names)
    if (rest == t.text) {
      out.memory = MachineMemory::T;
      out.is_long = t.is_long;
      for (std::size_t e = 0; e < max_elements; ++e) out.addresses.push_back(2 * e + t.half);
      return out;
    }
  const std::string_view mask = rest.starts_with("mask")           ? rest.substr(4)
                                : !dollar && rest.starts_with('m') ? rest.substr(1)
                                                                   : std::string_view();
  if (const auto number = parse_all<std::size_t>(mask)) {
    if (*number >= mask_registers)
      refuse(text, fmt::format("masks are m0 to m{}", mask_registers - 1));
    out.memory = MachineMemory::Masks;
    out.is_long = false;
    for (std::size_t e = 0; e < max_elements; ++e)
      out.addresses.push_back(*number * max_elements + e);
    return out;
  }
  for (const Prefix& prefix : prefixes) {
    if (!rest.starts_with(prefix.text)) continue;
    std::string_view digits = rest.substr(prefix.text.size());
    const bool vector = digits.ends_with('v');
    if (vector) digits.remove_suffix(1);
    const auto address = parse_all<std::size_t>(digits);
    if (!address) continue;
    if (prefix.is_long && *address % 2 != 0)
      refuse(text, fmt::format("a long has an even address, not {}", *address));
    out.memory = prefix.memory;
    out.is_long = prefix.is_long;
    const std::size_t step = prefix.is_long ? 2 : 1;
    for (std::size_t e = 0; e < (vector ? elements : 1); ++e)
      out.addresses.push_back(*address + e * step);
    return out;
  }
  return std::nullopt;
}

std::optional<Location> variable(const Machine& machine, std::string_view name,
                                 std::vector<std::string>& known) {
  for (const MachineVariable& v : machine.variables()) {
    known.push_back(v.name);
    if (v.name != name) continue;
    Location out;
    out.name = name;
    out.kind = v.kind;
    out.reduction = v.reduction;
    out.memory = v.memory;
    out.is_long = v.is_long;
    out.format = format_of(v.conversion);
    for (std::size_t e = 0; e < v.count; ++e) out.addresses.push_back(v.address + e * v.step);
    return out;
  }
  return std::nullopt;
}

/// `[K]` at the end of a text.
std::optional<std::size_t> take_element(std::string_view& text) {
  if (!text.ends_with(']')) return std::nullopt;
  const std::size_t open = text.rfind('[');
  if (open == std::string_view::npos) return std::nullopt;
  const auto element = parse_all<std::size_t>(text.substr(open + 1, text.size() - open - 2));
  if (element) text = text.substr(0, open);
  return element;
}

/// `.hi` or `.lo` at the end of a text: the half, 0 or 1.
std::optional<std::size_t> take_half(std::string_view& text) {
  for (const auto& [suffix, half] : {std::pair{".hi", 0U}, std::pair{".lo", 1U}})
    if (text.ends_with(suffix)) {
      text.remove_suffix(3);
      return half;
    }
  return std::nullopt;
}

/// `@K` at the end of a text: an item of the group.
std::optional<std::size_t> take_item(std::string_view& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return std::nullopt;
  const auto item = parse_all<std::size_t>(text.substr(at + 1));
  if (item) text = text.substr(0, at);
  return item;
}

Location find_location(const Machine& machine, std::string_view text, std::size_t elements) {
  std::vector<std::string> known;
  if (auto found = variable(machine, text, known)) return *found;
  if (auto found = raw_location(text, elements)) return *found;
  const std::vector<std::string_view> names(known.begin(), known.end());
  const auto nearest = nearest_name(text, names);
  throw usage_error(
      "unknown variable or location \"{}\"{}; info variables lists the variables, and locations "
      "are "
      "written as in assembly: $lr8, $m4v, $th, $lb10, m0",
      text, nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : std::string());
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

std::string Location::word_name(std::size_t k) const {
  return addresses.size() == 1 ? name : fmt::format("{}[{}]", name, k);
}

std::vector<MachineWord> Location::words(const Machine& machine, const PeChoice& choice) const {
  const bool shared = memory == MachineMemory::Broadcast;
  const std::size_t last_block = choice.all_blocks ? machine.blocks() - 1 : choice.block;
  const std::size_t last_pe = choice.all_pes && !shared ? machine.pes() - 1 : choice.pe;
  std::vector<MachineWord> list;
  for (std::size_t b = choice.all_blocks ? 0 : choice.block; b <= last_block; ++b)
    for (std::size_t p = choice.all_pes && !shared ? 0 : choice.pe; p <= last_pe; ++p)
      for (const std::size_t address : addresses)
        list.push_back({memory, b, shared ? 0 : p, address, is_long});
  return list;
}

Location parse_location(const Machine& machine, const Program& program, std::string_view text) {
  std::string_view rest = text;
  const auto half = take_half(rest);
  const auto element = take_element(rest);
  const auto item = take_item(rest);
  Location out = find_location(machine, rest, program.elements);
  if (item) {
    if (out.kind != "jvar") refuse(text, "only a jvar has several items, as in xj@1");
    if (*item >= program.group)
      refuse(text, fmt::format("a group has {}, counted from 0", counted(program.group, "item")));
    for (std::size_t& address : out.addresses) address += *item * program.item_shorts;
  }
  if (element) {
    if (*element >= out.addresses.size())
      refuse(text,
             fmt::format("it has {}, counted from 0", counted(out.addresses.size(), "element")));
    out.addresses = {out.addresses[*element]};
  }
  if (half) {
    if (!out.is_long) refuse(text, "only longs have the halves .hi and .lo");
    out.is_long = false;
    out.format = {};
    for (std::size_t& address : out.addresses) address += *half;
  }
  out.name = text;
  // A location of one PE that does not exist is refused here rather than in the middle of a list.
  for (const std::size_t address : out.addresses)
    if (address + (out.is_long ? 1 : 0) >= machine.memory_size(out.memory))
      refuse(text, fmt::format("the last address of this memory is {}",
                               machine.memory_size(out.memory) - (out.is_long ? 2 : 1)));
  return out;
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
      refuse(text, fmt::format("the bits of this word are 0x and up to {} hex digits", digits));
    return bits_of((u128{*high} << 36) | *low);
  }
  const DumpFormat chosen = mask ? DumpFormat::Int : format.format.value_or(DumpFormat::Float);
  if (chosen == DumpFormat::Int) {
    const auto value = parse_all<std::int64_t>(text);
    if (!value) refuse(text, "expected an integer, or 0x and hex digits");
    if (mask && *value != 0 && *value != 1) refuse(text, "a mask is 0 or 1");
    const std::int64_t limit = std::int64_t{1} << 35;
    if (!is_long && (*value >= limit || *value < -limit))
      refuse(text, "the number does not fit into the 36 bits of a short");
    return bits_of(static_cast<u128>(static_cast<i128>(*value)));
  }
  const auto value = parse_all<double>(text);
  if (!value) refuse(text, "expected a number, or 0x and hex digits");
  if (chosen == DumpFormat::Fixed) {
    const double scaled = std::nearbyint(std::ldexp(*value, static_cast<int>(format.point)));
    if (!(std::abs(scaled) < std::ldexp(1.0, is_long ? 71 : 35)))
      refuse(text, "the number does not fit into the word");
    return bits_of(static_cast<u128>(static_cast<i128>(scaled)));
  }
  if (is_long) return bits_of(long_from_double(*value).bits);
  return {0, short_bits(*value)};
}

}  // namespace gdr::cli
