// Parsing the requests of --dump, and writing dumps.
#include "libgdr/cli/dump.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <ranges>
#include <vector>

#include "emulator/numeric/float.hpp"
#include "emulator/numeric/integer.hpp"
#include "libgdr/cli/command.hpp"
#include "libgdr/device/names.hpp"

namespace gdr::cli {
namespace {

[[noreturn]] void refuse(const DumpRequest& request, const std::string& why) {
  throw usage_error("--dump {}: {}", request.text, why);
}

struct MemoryName {
  std::string_view name;
  DumpMemory memory;
  Width width;
  unsigned half;  ///< half of T that is shown
};
constexpr MemoryName memory_names[] = {
    {"r", DumpMemory::Register, Width::Short, 0}, {"lr", DumpMemory::Register, Width::Long, 0},
    {"m", DumpMemory::Local, Width::Short, 0},    {"lm", DumpMemory::Local, Width::Long, 0},
    {"t", DumpMemory::T, Width::Long, 0},         {"th", DumpMemory::T, Width::Short, 0},
    {"tl", DumpMemory::T, Width::Short, 1},       {"b", DumpMemory::Bm, Width::Short, 0},
    {"lb", DumpMemory::Bm, Width::Long, 0},       {"mask", DumpMemory::Mask, Width::Short, 0},
};

void set_location(DumpRequest& request, const std::string& name, const Operand& location,
                  std::uint32_t elements) {
  static constexpr std::pair<Space, DumpMemory> memories[] = {
      {Space::Register, DumpMemory::Register},
      {Space::Local, DumpMemory::Local},
      {Space::Bm, DumpMemory::Bm},
      {Space::T, DumpMemory::T}};
  const auto* const found =
      std::ranges::find(memories, location.space, &std::pair<Space, DumpMemory>::first);
  if (found == std::end(memories))
    refuse(request,
           name + " has no fixed address; give a memory and a range, for example lb:0..31");
  request.memory = found->second;
  request.width = location.width;
  request.first = location.address;
  const std::uint32_t words = location.space == Space::T ? max_elements
                              : location.vector          ? elements
                                                         : 1;
  const std::uint32_t step = location.space == Space::T ? 2 : shorts_in(location.width);
  request.last = location.address + (words - 1) * step;
}

void parse_memory(DumpRequest& request, std::string_view name, const Program& program) {
  for (const Variable& v : program.variables)
    if (v.name == name) return set_location(request, v.name, v.location, program.elements);
  for (const Symbol& s : program.symbols)
    if (s.name == name) return set_location(request, s.name, s.location, program.elements);
  const std::string_view plain = name.starts_with('$') ? name.substr(1) : name;
  std::vector<std::string_view> known;
  for (const MemoryName& m : memory_names) {
    known.push_back(m.name);
    if (m.name != plain) continue;
    request.memory = m.memory;
    request.width = m.width;
    if (m.memory != DumpMemory::T) return;
    request.first = m.half;
    request.last = m.half + 2 * (max_elements - 1);
    return;
  }
  for (const Variable& v : program.variables) known.push_back(v.name);
  refuse(request, unknown_name("memory or variable", name, known));
}

/// `5` or `5..9`: addresses in shorts, of T elements.
bool parse_range(DumpRequest& request, std::string_view part) {
  const std::size_t dots = part.find("..");
  const auto first = parse_all<std::uint32_t>(part.substr(0, dots));
  const auto last =
      dots == std::string_view::npos ? first : parse_all<std::uint32_t>(part.substr(dots + 2));
  if (!first || !last) return false;
  if (*last < *first) refuse(request, fmt::format("the range {} is empty", part));
  const bool t = request.memory == DumpMemory::T;
  const std::uint32_t half = t ? request.first.value_or(0) % 2 : 0;
  if (t && *last >= max_elements) refuse(request, "T has elements 0 to 3");
  request.first = t ? *first * 2 + half : *first;
  request.last = t ? *last * 2 + half : *last;
  return true;
}

/// `PE,BLOCK[,CHIP[,BOARD]]` with `*` for every PE or block.
bool parse_position(DumpRequest& request, std::string_view part) {
  if (part.find(',') == std::string_view::npos) return false;
  std::vector<std::string_view> numbers;
  for (const auto number : std::views::split(part, ','))
    numbers.emplace_back(number.begin(), number.end());
  if (numbers.size() > 4) refuse(request, "write the position as PE,BLOCK[,CHIP[,BOARD]]");
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const bool every = numbers[k] == "*" && k < 2;
    const auto value = parse_all<std::uint32_t>(numbers[k]);
    if (!value && !every)
      refuse(request, fmt::format("'{}' is no number in the position {}", numbers[k], part));
    if (k == 0) request.pe = every ? std::nullopt : value;
    if (k == 1) request.block = every ? std::nullopt : value;
    if (k == 2) request.chip = *value;
    if (k == 3) request.board = *value;
  }
  return true;
}

bool parse_format(DumpRequest& request, std::string_view part) {
  if (part == "hex" || part == "float" || part == "int") {
    request.format = part == "hex"     ? DumpFormat::Hex
                     : part == "float" ? DumpFormat::Float
                                       : DumpFormat::Int;
    return true;
  }
  if (!part.starts_with("fixed")) return false;
  const auto point =
      part.starts_with("fixed.") ? parse_all<std::uint32_t>(part.substr(6)) : std::nullopt;
  if (!point || *point > 71)
    refuse(request, "fixed takes its binary point from 0 to 71, as in fixed.40");
  request.format = DumpFormat::Fixed;
  request.point = *point;
  return true;
}

/// Enough digits to tell any two words apart: 21 for a long, 9 for a short.
std::string float_text(u128 word, Width width) {
  const Long wide =
      width == Width::Long ? Long{word} : widen_float({static_cast<std::uint64_t>(word)});
  const bool negative = (wide.bits >> 71) != 0;
  const int exponent = static_cast<int>((wide.bits >> 60) & 2047);
  const auto fraction = static_cast<std::uint64_t>(wide.bits & ((u128{1} << 60) - 1));
  if (exponent == 2047) return fraction != 0 ? "nan" : negative ? "-inf" : "inf";
  if (exponent == 0) return negative ? "-0" : "0";
  const auto significand = static_cast<long double>((std::uint64_t{1} << 60) | fraction);
  const long double value = std::ldexp(significand, exponent - 1023 - 60);
  return fmt::format("{:.{}g}", negative ? -value : value, width == Width::Long ? 21 : 9);
}

/// Size of a memory in shorts, or masks.
std::uint32_t size_of(DumpMemory memory, const Geometry& g) {
  switch (memory) {
    case DumpMemory::Register:
      return 2 * g.register_words;
    case DumpMemory::Local:
      return 2 * g.local_words;
    case DumpMemory::T:
      return 2 * max_elements;
    case DumpMemory::Mask:
      return mask_registers;
    case DumpMemory::Bm:
      break;
  }
  return 2 * g.broadcast_words;
}

/// Name of the memory in dumps.
std::string_view name_of(const DumpRequest& request) {
  const bool half = request.memory == DumpMemory::T && request.width == Width::Short;
  for (const MemoryName& m : memory_names)
    if (m.memory == request.memory && m.width == request.width &&
        (!half || m.half == request.first.value_or(0) % 2))
      return m.name;
  return memory_names[0].name;
}

std::string mask_text(const BlockState& block, std::uint32_t mask, std::uint32_t pe) {
  std::string bits;
  for (unsigned e = 0; e < max_elements; ++e)
    bits += block.masks[std::size_t{mask * max_elements + e} * block.pes + pe] != 0 ? '1' : '0';
  return bits;
}

u128 word_at(const DumpRequest& request, const BlockState& block, std::uint32_t address,
             std::uint32_t pe) {
  if (request.memory == DumpMemory::Bm) return read_bm(block, address, request.width);
  const LaneMemory& memory = request.memory == DumpMemory::Register ? block.registers
                             : request.memory == DumpMemory::Local  ? block.local
                                                                    : block.t;
  const auto part = [&](std::uint32_t a) { return Short{memory[std::size_t{a} * block.pes + pe]}; };
  if (request.width == Width::Short) return part(address).bits;
  return join(part(address), part(address + 1)).bits;
}

struct Range {
  std::uint32_t first, last, step;
};

Range range_of(const DumpRequest& request, std::uint32_t size) {
  const bool is_long = request.width == Width::Long;
  const bool t = request.memory == DumpMemory::T;
  const std::uint32_t step = t || (is_long && request.memory != DumpMemory::Mask) ? 2 : 1;
  const Range range{request.first.value_or(0), request.last.value_or(size - (is_long ? 2 : 1)),
                    step};
  if (is_long && !t && range.first % 2 != 0)
    refuse(request, fmt::format("a long has an even address, not {}", range.first));
  if (range.last + (is_long ? 1 : 0) >= size)
    refuse(request, fmt::format("address {} is behind the end; the last address of {} is {}",
                                range.last, name_of(request), size - (is_long ? 2 : 1)));
  return range;
}

}  // namespace

DumpRequest parse_dump(std::string_view text, const Program& program) {
  DumpRequest request;
  request.text = text;
  std::size_t colon = std::min(text.find(':'), text.size());
  parse_memory(request, text.substr(0, colon), program);
  while (colon < text.size()) {
    const std::size_t next = std::min(text.find(':', colon + 1), text.size());
    const std::string_view part = text.substr(colon + 1, next - colon - 1);
    if (!parse_format(request, part) && !parse_position(request, part) &&
        !parse_range(request, part))
      refuse(
          request,
          fmt::format("'{}' is neither a range (8..15), a position (PE,BLOCK) nor a format (hex, "
                      "float, int, fixed.N)",
                      part));
    colon = next;
  }
  return request;
}

std::string word_text(u128 word, Width width, DumpFormat format, unsigned point) {
  if (format == DumpFormat::Float) return float_text(word, width);
  if (format == DumpFormat::Int) return fmt::format("{}", signed_value(word, width));
  if (format == DumpFormat::Fixed) {
    const auto value = static_cast<long double>(signed_value(word, width));
    return fmt::format("{:.21g}", std::ldexp(value, -static_cast<int>(point)));
  }
  const auto low = static_cast<std::uint64_t>(word) & Short::mask;
  const auto high = static_cast<std::uint64_t>(word >> Short::bit_count);
  return width == Width::Long ? fmt::format("{:09x}{:09x}", high, low) : fmt::format("{:09x}", low);
}

std::string dump_text(const DumpRequest& request, const ChipState& chip) {
  const Geometry& g = chip.geometry;
  if (request.block && *request.block >= g.blocks)
    refuse(request, fmt::format("block {}: the chip has {}", *request.block, g.blocks));
  if (request.pe && *request.pe >= g.pes_per_block)
    refuse(request, fmt::format("PE {}: a block has {}", *request.pe, g.pes_per_block));
  const Range range = range_of(request, size_of(request.memory, g));
  const std::string_view name = name_of(request);
  const bool bm = request.memory == DumpMemory::Bm;
  const std::uint32_t first_pe = request.pe.value_or(0);
  const std::uint32_t end_pe = bm || request.pe ? first_pe + 1 : g.pes_per_block;
  const std::uint32_t first_block = request.block.value_or(0);
  const std::uint32_t end_block = request.block ? first_block + 1 : g.blocks;

  std::string text = fmt::format("# dump {} (location, block, PE, value)\n", request.text);
  for (std::uint32_t b = first_block; b < end_block; ++b) {
    const BlockState& block = chip.blocks[b];
    for (std::uint32_t pe = first_pe; pe < end_pe; ++pe) {
      for (std::uint32_t a = range.first; a <= range.last; a += range.step) {
        const std::uint32_t shown = request.memory == DumpMemory::T ? a / 2 : a;
        const std::string value = request.memory == DumpMemory::Mask
                                      ? mask_text(block, a, pe)
                                      : word_text(word_at(request, block, a, pe), request.width,
                                                  request.format, request.point);
        text +=
            fmt::format("{}{} {} {} {}\n", name, shown, b, bm ? "-" : std::to_string(pe), value);
      }
    }
  }
  return text;
}

}  // namespace gdr::cli
