// Parsing the requests of --dump.
#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "libgdr/cli/dump.hpp"
#include "libgdr/cli/text.hpp"
#include "libgdr/device/names.hpp"

namespace gdr::cli {
namespace {

struct MemoryName {
  std::string_view name;
  DumpMemory memory;
  Width width;
  unsigned half;  ///< of T: which one
};
constexpr MemoryName memory_names[] = {
    {"r", DumpMemory::Register, Width::Short, 0}, {"lr", DumpMemory::Register, Width::Long, 0},
    {"m", DumpMemory::Local, Width::Short, 0},    {"lm", DumpMemory::Local, Width::Long, 0},
    {"t", DumpMemory::T, Width::Long, 0},         {"th", DumpMemory::T, Width::Short, 0},
    {"tl", DumpMemory::T, Width::Short, 1},       {"b", DumpMemory::Bm, Width::Short, 0},
    {"lb", DumpMemory::Bm, Width::Long, 0},       {"mask", DumpMemory::Mask, Width::Short, 0},
};

[[noreturn]] void refuse(std::string_view request, const std::string& why) {
  throw usage_error("--dump {}: {}", request, why);
}

std::optional<std::uint32_t> parse_unsigned(std::string_view text) {
  std::uint32_t value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || code != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

void set_location(DumpRequest& request, const std::string& name, const Operand& location,
                  std::uint32_t elements) {
  switch (location.space) {
    case Space::Register:
      request.memory = DumpMemory::Register;
      break;
    case Space::Local:
      request.memory = DumpMemory::Local;
      break;
    case Space::Bm:
      request.memory = DumpMemory::Bm;
      break;
    case Space::T:
      request.memory = DumpMemory::T;
      break;
    default:
      refuse(request.text, name +
                               " has no fixed address; give a memory and a range, for example "
                               "lb:0..31");
  }
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
  refuse(request.text, unknown_name("memory or variable", name, known));
}

/// `5` or `5..9`: addresses in shorts, of T elements.
bool parse_range(DumpRequest& request, std::string_view part) {
  const std::size_t dots = part.find("..");
  const auto first = parse_unsigned(part.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : parse_unsigned(part.substr(dots + 2));
  if (!first || !last) return false;
  if (*last < *first) refuse(request.text, fmt::format("the range {} is empty", part));
  const bool t = request.memory == DumpMemory::T;
  const std::uint32_t half = t ? request.first.value_or(0) % 2 : 0;
  if (t && *last >= max_elements) refuse(request.text, "T has elements 0 to 3");
  request.first = t ? *first * 2 + half : *first;
  request.last = t ? *last * 2 + half : *last;
  return true;
}

/// `PE,BLOCK[,CHIP[,BOARD]]` with `*` for every PE or block.
bool parse_position(DumpRequest& request, std::string_view part) {
  if (part.find(',') == std::string_view::npos) return false;
  std::vector<std::string_view> numbers;
  for (std::size_t at = 0; at <= part.size();) {
    const std::size_t comma = std::min(part.find(',', at), part.size());
    numbers.push_back(part.substr(at, comma - at));
    at = comma + 1;
  }
  if (numbers.size() > 4) refuse(request.text, "write the position as PE,BLOCK[,CHIP[,BOARD]]");
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const bool every = numbers[k] == "*" && k < 2;
    const auto value = parse_unsigned(numbers[k]);
    if (!value && !every)
      refuse(request.text, fmt::format("'{}' is no number in the position {}", numbers[k], part));
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
  const auto point = part.starts_with("fixed.") ? parse_unsigned(part.substr(6)) : std::nullopt;
  if (!point || *point > 71)
    refuse(request.text, "fixed takes its binary point from 0 to 71, as in fixed.40");
  request.format = DumpFormat::Fixed;
  request.point = *point;
  return true;
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
      refuse(text, fmt::format(
                       "'{}' is neither a range (8..15), a position (PE,BLOCK) nor a format (hex, "
                       "float, int, fixed.N)",
                       part));
    colon = next;
  }
  return request;
}

}  // namespace gdr::cli
