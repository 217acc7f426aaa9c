#include "emulator/assembler/program_defect.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr {
namespace {

constexpr std::uint32_t most_shorts = 2 * GeometryLimits::memory_words;
constexpr std::uint32_t largest_group = 4096;

bool in_memory_of_pe(const Operand& where) noexcept {
  return where.space == Space::Register || where.space == Space::Local;
}

/// The bytes of the moving or fixed part of the broadcast memory must hold the variable.
std::string check_inside(const Operand& where, std::uint32_t shorts, std::string_view part) {
  if (where.address + shorts_in(where.width) <= shorts) return {};
  return fmt::format("at address {} it reaches beyond the {} of {} shorts", where.address, part,
                     shorts);
}

std::string check_place(const Variable& v, const Program& p) {
  if (auto wrong = location_defect(v.location); !wrong.empty()) return wrong;
  const Operand& where = v.location;
  switch (v.kind) {
    case VarKind::Target:
    case VarKind::Result:
      if (!in_memory_of_pe(where)) return "it must live in registers or in local memory";
      if (!where.vector && p.elements > 1) return "every element needs a place of its own";
      return {};
    case VarKind::Param:
      if (where.vector) return "a parameter is one value for all elements";
      if (in_memory_of_pe(where)) return {};
      if (where.space != Space::Bm) {
        return "a parameter lives in the fixed broadcast memory, registers or local memory";
      }
      return check_inside(where, p.fixed_shorts, "fixed part");
    case VarKind::Source:
      if (where.space != Space::BmSource || where.vector) return "it must live in the j-item";
      return check_inside(where, p.item_shorts, "j-item");
    case VarKind::Output:
      if (where.space != Space::BmOutput || where.vector) return "it must live in the output item";
      return check_inside(where, p.output_shorts, "output item");
  }
  return "its kind is unknown";
}

std::string check_conversion(Conversion c) {
  const auto known = [c](const ConversionName& row) {
    return row.host == c.host && row.machine == c.machine;
  };
  if (std::ranges::none_of(conversion_table(), known)) return "its conversion is unknown";
  const unsigned most = c.machine == MachineFormat::Fixed ? Long::bit_count - 1 : 0;
  if (c.point > most) return fmt::format("a binary point of {} is out of range", c.point);
  return {};
}

std::string check_variable(const Variable& v, const Program& p) {
  if (auto wrong = check_place(v, p); !wrong.empty()) return wrong;
  if (auto wrong = check_conversion(v.conversion); !wrong.empty()) return wrong;
  if (v.conversion.machine == MachineFormat::FloatLong && v.location.width == Width::Short) {
    return "its conversion makes a long, and its location is a short";
  }
  if (v.reduce > Reduce::Ixor) return "its reduction is unknown";
  const bool reduced = v.kind == VarKind::Result || v.kind == VarKind::Output;
  if (v.reduce != Reduce::Pass && !reduced) return "only results and outputs have a reduction";
  if (v.pad != 0 && v.kind != VarKind::Source) return "only j-variables have a pad value";
  return {};
}

std::string check_names(const Program& p) {
  if (p.name.size() > longest_name || p.name.find('\0') != std::string::npos) {
    return "the kernel's name is too long or has a zero byte";
  }
  std::unordered_set<std::string_view> seen;
  const auto check = [&seen](const std::string& name) -> std::string {
    if (!is_identifier(name)) return "a variable or symbol has a name that is not one";
    if (name.size() > longest_name) return "the name of a variable or symbol is too long";
    if (!seen.insert(name).second) return fmt::format("the name '{}' stands twice", name);
    return {};
  };
  for (const Variable& v : p.variables) {
    if (auto wrong = check(v.name); !wrong.empty()) return wrong;
  }
  for (const Symbol& s : p.symbols) {
    if (auto wrong = check(s.name); !wrong.empty()) return wrong;
  }
  for (const std::string& file : p.files) {
    if (file.empty() || file.size() > longest_name || file.find('\0') != std::string::npos) {
      return "the file table holds a name that is empty, too long or has a zero byte";
    }
  }
  return {};
}

std::string check_sizes(const Program& p) {
  if (p.elements < 1 || p.elements > max_elements) {
    return fmt::format("{} elements; a PE holds 1 to {}", p.elements, max_elements);
  }
  if (p.group < 1 || p.group > largest_group) {
    return fmt::format("a group of {} j-items; 1 to {} are possible", p.group, largest_group);
  }
  const bool number = p.flops == 0 || std::isnormal(p.flops);
  if (!number || std::signbit(p.flops)) return "the flop count is not a count";
  const std::uint32_t widest = std::max({p.item_shorts, p.output_shorts, p.fixed_shorts});
  if (widest > most_shorts) {
    return fmt::format("an item of {} shorts; the largest broadcast memory has {}", widest,
                       most_shorts);
  }
  if (std::uint64_t{p.group} * std::max(p.item_shorts, p.output_shorts) > most_shorts) {
    return "a group of items is larger than the largest broadcast memory";
  }
  return {};
}

/// Items move with the loop, so only its body can name them.
bool names_item_outside_body(const Program& p) {
  const auto names_item = [](const Instruction& i) {
    return i.move.bm.space == Space::BmSource || i.move.bm.space == Space::BmOutput;
  };
  return std::ranges::any_of(p.section(Section::Init), names_item) ||
         std::ranges::any_of(p.section(Section::Start), names_item) ||
         std::ranges::any_of(p.section(Section::End), names_item);
}

/// A long in an item of odd size would stand at an odd address in every second item.
std::string check_parity(const Program& p) {
  const auto odd = [&p](const Operand& o) {
    if (o.width != Width::Long) return false;
    return (o.space == Space::BmSource && p.item_shorts % 2 != 0) ||
           (o.space == Space::BmOutput && p.output_shorts % 2 != 0);
  };
  bool found = std::ranges::any_of(p.variables, [&](const auto& v) { return odd(v.location); });
  for (const auto& section : p.sections) {
    found = found || std::ranges::any_of(section, [&](const auto& i) { return odd(i.move.bm); });
  }
  return found ? "an item that holds longs has an odd number of shorts" : "";
}

std::string check_code(const Program& p) {
  for (unsigned s = 0; s < section_count; ++s) {
    if (!p.lines[s].empty() && p.lines[s].size() != p.sections[s].size()) {
      return fmt::format("section {} has {} instructions but {} source lines", section_names[s],
                         p.sections[s].size(), p.lines[s].size());
    }
    for (std::size_t i = 0; i < p.sections[s].size(); ++i) {
      const std::string why = validate(p.sections[s][i]);
      if (!why.empty())
        return fmt::format("section {}, instruction {}: {}", section_names[s], i, why);
    }
    for (const SourceLine& line : p.lines[s]) {
      const bool unknown = line == SourceLine{};
      if (!unknown && line.file >= p.files.size()) {
        return fmt::format("section {}: a source line names file {} of {}", section_names[s],
                           line.file, p.files.size());
      }
    }
  }
  return {};
}

}  // namespace

bool is_identifier(std::string_view name) noexcept {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto letter_or_digit = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name.front()) && std::ranges::all_of(name, letter_or_digit);
}

std::string location_defect(const Operand& o) {
  const bool by_t = o.space == Space::LocalByT;
  if (!by_t && (o.range_first != 0 || o.range_last != 0)) return "only T-indirect has a range";
  if (o.range_first > o.range_last) return "its range is empty";
  if (o.width > Width::Long) return "its width is unknown";
  switch (o.space) {
    case Space::Register:
    case Space::Local:
    case Space::Bm:
    case Space::BmSource:
    case Space::BmOutput:
      if (o.width == Width::Long && o.address % 2 != 0) return "a long stands at an odd address";
      return {};
    case Space::T:
      if (o.vector) return "T goes by element already";
      if (o.address > (o.width == Width::Long ? 0 : 1)) return "T has two halves";
      return {};
    case Space::LocalByT:
      if (o.vector || o.address != 0) return "a T-indirect location has no address of its own";
      return {};
    case Space::PeNumber:
    case Space::BlockNumber:
      if (o.vector || o.address != 0 || o.width != Width::Long) return "a fixed input is a long";
      return {};
    case Space::None:
    case Space::Immediate:
      break;
  }
  return "it names no location";
}

std::string program_defect(const Program& p) {
  if (auto wrong = check_sizes(p); !wrong.empty()) return wrong;
  if (auto wrong = check_names(p); !wrong.empty()) return wrong;
  for (const Variable& v : p.variables) {
    if (auto wrong = check_variable(v, p); !wrong.empty()) {
      return fmt::format("variable '{}': {}", v.name, wrong);
    }
  }
  for (const Symbol& s : p.symbols) {
    if (auto wrong = location_defect(s.location); !wrong.empty()) {
      return fmt::format("symbol '{}': {}", s.name, wrong);
    }
  }
  if (auto wrong = check_code(p); !wrong.empty()) return wrong;
  if (names_item_outside_body(p)) return "an item is named outside the loop's body";
  return check_parity(p);
}

}  // namespace gdr
