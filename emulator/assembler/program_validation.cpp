// Validity of programs, as required by object files.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "emulator/assembler/flops_limit.hpp"
#include "emulator/assembler/object.hpp"
#include "emulator/isa/geometry.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr {
namespace {

constexpr std::uint32_t max_shorts = 2 * GeometryLimits::memory_words;
constexpr std::uint32_t max_group = 4096;
/// Limit of names of kernels, variables, symbols and files, in bytes.
constexpr std::size_t max_name_length = 4096;

/// Check that a variable is a scalar inside its part of the broadcast memory.
std::string check_inside(const Operand& where, Space space, std::uint32_t shorts,
                         std::string_view part) {
  if (where.space != space || where.vector) {
    return fmt::format("its location must be in the {}", part);
  }
  if (where.address + shorts_in(where.width) <= shorts) return {};
  return fmt::format("address {} is beyond the {} of {} shorts", where.address, part, shorts);
}

std::string check_place(const Variable& v, const Program& p) {
  if (auto wrong = validate_location(v.location); !wrong.empty()) return wrong;
  const Operand& where = v.location;
  switch (v.kind) {
    case VarKind::Target:
    case VarKind::Result:
      if (!in_pe_memory(where.space)) return "its location must be in registers or local memory";
      if (!where.vector && p.elements > 1) return "its location must be a vector";
      return {};
    case VarKind::Param:
      if (where.vector) return "the location of a parameter must be a scalar";
      if (in_pe_memory(where.space)) return {};
      if (where.space != Space::Bm) {
        return "the location of a parameter must be in the fixed broadcast memory, registers or "
               "local memory";
      }
      return check_inside(where, Space::Bm, p.fixed_shorts, "fixed part");
    case VarKind::Source:
      return check_inside(where, Space::BmSource, p.item_shorts, "j-item");
    case VarKind::Output:
      return check_inside(where, Space::BmOutput, p.output_shorts, "output item");
  }
  return "unknown kind";
}

std::string check_conversion(Conversion c) {
  const auto known = [c](const ConversionName& row) {
    return row.host == c.host && row.machine == c.machine;
  };
  if (std::ranges::none_of(conversion_table(), known)) return "unknown conversion";
  const unsigned most = c.machine == MachineFormat::Fixed ? Long::bit_count - 1 : 0;
  if (c.point > most) return fmt::format("binary point {} is out of range", c.point);
  return {};
}

/// Letters, digits and `_`, not starting with a digit.
bool is_identifier(std::string_view name) noexcept {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto letter_or_digit = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name.front()) && std::ranges::all_of(name, letter_or_digit);
}

/// What the host fills into a variable that it does not know by name.
std::string check_quantity(const Variable& v) {
  if (!v.quantity.empty()) {
    if (!is_input(v.kind)) return "only targets, sources and params have a quantity";
    if (!is_identifier(v.quantity) || v.quantity.size() > max_name_length)
      return "the name of its quantity is invalid";
  } else if (v.squared) {
    return "the square of no quantity";
  }
  if (!v.default_value) return {};
  if (!takes_default(v)) return "only integer targets and sources have a default value";
  constexpr std::int64_t limit = std::int64_t{1} << (Short::bit_count - 1);
  if (v.location.width == Width::Short && (*v.default_value < -limit || *v.default_value >= limit))
    return "its default value exceeds 36 bits";
  return {};
}

std::string check_variable(const Variable& v, const Program& p) {
  if (auto wrong = check_place(v, p); !wrong.empty()) return wrong;
  if (auto wrong = check_conversion(v.conversion); !wrong.empty()) return wrong;
  if (v.conversion.machine == MachineFormat::FloatLong && v.location.width == Width::Short) {
    return "its conversion gives a long, but its location is a short";
  }
  if (v.reduce > Reduce::Index) return "unknown reduction";
  const bool reduced = v.kind == VarKind::Result || v.kind == VarKind::Output;
  if (v.reduce != Reduce::Pass && !reduced) return "only results and outputs can have a reduction";
  if (v.reduce == Reduce::Index) {
    if (v.kind != VarKind::Result) return "only results can be the index of a key";
    const auto key = static_cast<std::size_t>(v.key);
    const bool known = v.key >= 0 && key < p.variables.size();
    if (!known || p.variables[key].kind != VarKind::Result ||
        (p.variables[key].reduce != Reduce::Fmin && p.variables[key].reduce != Reduce::Fmax))
      return "the key of an index is not a result with reduction fmin or fmax";
  } else if (v.key != -1) {
    return "only an index has a key";
  }
  if (v.pad != 0 && v.kind != VarKind::Source) return "only j-variables can have a pad value";
  if (v.pad_is_copy && v.kind != VarKind::Source) return "only j-variables can be copied to a pad";
  if (v.pad_is_copy && (v.pad != 0 || p.group == 1))
    return "a j-variable that is copied to a pad has a pad value, or there are no groups";
  return check_quantity(v);
}

std::string check_names(const Program& p) {
  if (p.name.size() > max_name_length || p.name.find('\0') != std::string::npos) {
    return "the name of the kernel is too long or contains a zero byte";
  }
  std::unordered_set<std::string_view> seen;
  const auto check = [&seen](const std::string& name) -> std::string {
    if (!is_identifier(name)) return "the name of a variable or symbol is invalid";
    if (name.size() > max_name_length) return "the name of a variable or symbol is too long";
    if (!seen.insert(name).second) return fmt::format("duplicate name '{}'", name);
    return {};
  };
  for (const Variable& v : p.variables) {
    if (auto wrong = check(v.name); !wrong.empty()) return wrong;
  }
  for (const Symbol& s : p.symbols) {
    if (auto wrong = check(s.name); !wrong.empty()) return wrong;
  }
  for (const std::string& file : p.files) {
    if (file.empty() || file.size() > max_name_length || file.find('\0') != std::string::npos) {
      return "a name in the file table is empty, too long or contains a zero byte";
    }
  }
  return {};
}

std::string check_array(const VariableArray& array, const Program& p) {
  if (!is_identifier(array.name) || array.name.size() > max_name_length)
    return "the name of an array is invalid";
  if (array.sizes.empty() || array.sizes.size() > max_array_indices)
    return fmt::format("array '{}' has {} indices; valid are 1 to {}", array.name,
                       array.sizes.size(), max_array_indices);
  std::uint64_t count = 1;
  for (const std::uint32_t size : array.sizes) {
    count *= size;
    if (size == 0 || count > max_array_elements)
      return fmt::format("array '{}' has an invalid size", array.name);
  }
  if (array.complex && array.sizes.back() != 2)
    return fmt::format("array '{}' of complex numbers has the last size {}, not 2", array.name,
                       array.sizes.back());
  if (array.first + count > p.variables.size())
    return fmt::format("array '{}' has elements that are not declared", array.name);
  const Variable& first = p.variables[array.first];
  for (std::uint32_t k = 0; k < count; ++k) {
    const Variable& v = p.variables[array.first + k];
    if (v.name != array.element(k))
      return fmt::format("element {} of array '{}' is not the next variable", k, array.name);
    if (!are_alike(v, first))
      return fmt::format("the elements of array '{}' are not of one kind", array.name);
  }
  return {};
}

std::string check_arrays(const Program& p) {
  std::unordered_set<std::string_view> seen;
  for (const VariableArray& array : p.arrays) {
    if (auto wrong = check_array(array, p); !wrong.empty()) return wrong;
    if (!seen.insert(array.name).second) return fmt::format("duplicate array '{}'", array.name);
  }
  return {};
}

std::string check_host_names(const Program& p) {
  std::unordered_set<std::string_view> known, seen;
  for (const Variable& v : p.variables) known.insert(v.name);
  for (const VariableArray& a : p.arrays) known.insert(a.name);
  for (const HostName& n : p.host_names) {
    if (!known.contains(n.name)) return fmt::format("host name of '{}', which is unknown", n.name);
    if (!seen.insert(n.name).second) return fmt::format("two host names of '{}'", n.name);
    if (n.host.empty() || n.host.size() > max_name_length || n.host.find('\0') != std::string::npos)
      return fmt::format("the host name of '{}' is empty, too long or contains a zero byte",
                         n.name);
  }
  return {};
}

std::string check_cutoff(const Program& p) {
  if (!p.cutoff) return {};
  const auto is_double = [&](std::uint32_t variable, VarKind kind) {
    return variable < p.variables.size() && p.variables[variable].kind == kind &&
           p.variables[variable].conversion.host == HostType::F64;
  };
  if (!is_double(p.cutoff->radius2, VarKind::Target) ||
      !std::ranges::all_of(p.cutoff->target,
                           [&](std::uint32_t v) { return is_double(v, VarKind::Target); }) ||
      !std::ranges::all_of(p.cutoff->source,
                           [&](std::uint32_t v) { return is_double(v, VarKind::Source); }))
    return "the cut-off needs a variable and three coordinates of targets, then three of sources, "
           "all doubles of the host";
  return {};
}

std::string check_sizes(const Program& p) {
  if (p.elements < 1 || p.elements > max_elements) {
    return fmt::format("{} elements; valid are 1 to {}", p.elements, max_elements);
  }
  if (p.group < 1 || p.group > max_group) {
    return fmt::format("a group of {} j-items; valid are 1 to {}", p.group, max_group);
  }
  const bool number = p.flops == 0 || (std::isnormal(p.flops) && p.flops <= max_flops);
  if (!number || std::signbit(p.flops)) return "invalid flop count";
  const std::uint32_t widest = std::max({p.item_shorts, p.output_shorts, p.fixed_shorts});
  if (widest > max_shorts) {
    return fmt::format("an item of {} shorts; the largest broadcast memory has {} shorts", widest,
                       max_shorts);
  }
  if (std::uint64_t{p.group} * std::max(p.item_shorts, p.output_shorts) > max_shorts) {
    return "a group of items is larger than the largest broadcast memory";
  }
  return {};
}

/// Items move with the loop, so only the body can access them.
bool names_item_outside_body(const Program& p) {
  return std::ranges::any_of(
      std::array{Section::Init, Section::Start, Section::End}, [&p](Section section) {
        return std::ranges::any_of(p.section(section), [](const Instruction& i) {
          return in_broadcast_memory(i.move.bm.space) && i.move.bm.space != Space::Bm;
        });
      });
}

/// A long in an item of odd size has an odd address in every second item.
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
  return found ? "an item with longs has an odd number of shorts" : "";
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

bool are_alike(const Variable& a, const Variable& b) noexcept {
  const bool raw = a.conversion.host == HostType::Raw;
  return a.kind == b.kind && a.conversion.host == b.conversion.host &&
         (!raw || a.location.width == b.location.width);
}

std::string validate_location(const Operand& o) {
  const bool by_t = o.space == Space::LocalByT;
  if (!by_t && (o.range_first != 0 || o.range_last != 0))
    return "only T-indirect locations have a range";
  if (o.range_first > o.range_last) return "empty range";
  if (o.width > Width::Long) return "unknown width";
  if (o.space > Space::BmOutput) return "not a location";
  switch (o.space) {
    case Space::T:
      if (o.vector) return "T cannot be a vector";
      if (o.address > (o.width == Width::Long ? 0 : 1)) return "invalid half of T";
      return {};
    case Space::LocalByT:
      if (o.vector || o.address != 0) return "a T-indirect location with an address";
      return {};
    case Space::PeNumber:
    case Space::BlockNumber:
      if (o.vector || o.address != 0 || o.width != Width::Long)
        return "a fixed input must be a scalar long";
      return {};
    case Space::None:
    case Space::Immediate:
      return "not a location";
    default:
      return o.width == Width::Long && o.address % 2 != 0 ? "a long at an odd address" : "";
  }
}

namespace {

/// The same kernel in longs is a valid program with the same interface for the host.
std::string check_in_longs(const Program& p) {
  if (p.in_longs.empty()) return {};
  const Program& other = p.in_longs.front();
  if (p.in_longs.size() > 1 || !other.in_longs.empty()) return "more than one program in longs";
  if (auto wrong = validate_program(other); !wrong.empty()) return "the program in longs: " + wrong;
  if (!std::ranges::equal(p.variables, other.variables, are_alike))
    return "the program in longs has other variables";
  return {};
}

}  // namespace

std::string validate_program(const Program& p) {
  if (auto wrong = check_in_longs(p); !wrong.empty()) return wrong;
  if (auto wrong = check_sizes(p); !wrong.empty()) return wrong;
  if (auto wrong = check_names(p); !wrong.empty()) return wrong;
  for (const Variable& v : p.variables) {
    if (auto wrong = check_variable(v, p); !wrong.empty()) {
      return fmt::format("variable '{}': {}", v.name, wrong);
    }
  }
  for (const Symbol& s : p.symbols) {
    if (auto wrong = validate_location(s.location); !wrong.empty()) {
      return fmt::format("symbol '{}': {}", s.name, wrong);
    }
  }
  if (auto wrong = check_arrays(p); !wrong.empty()) return wrong;
  if (auto wrong = check_host_names(p); !wrong.empty()) return wrong;
  if (auto wrong = check_cutoff(p); !wrong.empty()) return wrong;
  if (auto wrong = check_code(p); !wrong.empty()) return wrong;
  if (names_item_outside_body(p)) return "an item is used outside the loop body";
  return check_parity(p);
}

}  // namespace gdr
