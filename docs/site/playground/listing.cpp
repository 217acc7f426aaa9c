#include "docs/site/playground/listing.hpp"

#include <array>
#include <bit>
#include <cstdio>
#include <string>

#include "emulator/assembler/assembler.hpp"
#include "emulator/assembler/instruction_text.hpp"
#include "emulator/isa/ports.hpp"
#include "emulator/numeric/convert.hpp"

namespace gdr::playground {
namespace {

using nlohmann::json;

/// The operations of one unit as text; empty if it is idle.
std::string unit_text(const Instruction& all, unsigned unit, const OperandNames& names) {
  Instruction one;
  one.vlen = all.vlen;
  if (unit == 0) one.mul = all.mul;
  if (unit == 1) one.alu = all.alu;
  if (unit == 2) one.move = all.move;
  return one.idle() ? "" : instruction_text(one, names);
}

json names_of(const Program& program) {
  json names = json::array();
  const auto add = [&](const std::string& name, const Operand& at) {
    constexpr std::array<const char*, 11> memories{"", "registers", "local",  "",      "t", "", "",
                                                   "", "broadcast", "source", "output"};
    const char* const memory = memories[static_cast<std::size_t>(at.space)];
    if (*memory == '\0') return;
    names.push_back({{"name", name},
                     {"memory", memory},
                     {"address", at.address},
                     {"long", at.width == Width::Long},
                     {"vector", at.vector}});
  };
  for (const Variable& v : program.variables) add(v.name, v.location);
  for (const Symbol& s : program.symbols) add(s.name, s.location);
  return names;
}

std::string hex(std::uint64_t word) {
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "%09llx", static_cast<unsigned long long>(word));
  return text.data();
}

/// A word as a floating-point number; JSON has no infinities, so these are text.
json number_of(MachineFormat format, Width width, u128 word) {
  Flags ignored = no_flags;
  const auto bits =
      static_cast<std::uint64_t>(to_host({HostType::F64, format}, width, word, ignored));
  const auto number = std::bit_cast<double>(bits);
  if (number != number) return "NaN";
  if (number - number != 0) return number > 0 ? "infinity" : "-infinity";
  return number;
}

}  // namespace

json listing_of(const Program& program, const Geometry& geometry) {
  const OperandNames names(program);
  json sections = json::array();
  for (std::size_t s = 0; s < program.sections.size(); ++s) {
    json instructions = json::array();
    std::uint64_t clock = 0;
    for (std::size_t k = 0; k < program.sections[s].size(); ++k) {
      const Instruction& i = program.sections[s][k];
      json units = json::array();
      for (unsigned u = 0; u < 3; ++u) units.push_back(unit_text(i, u, names));
      json one{{"clock", clock},
               {"clocks", i.clocks()},
               {"stride", i.stride()},
               {"units", units},
               {"ports", port_accesses(i, geometry)}};
      if (i.predicate.used)
        one["predicate"] =
            std::string(i.predicate.value ? "m" : "!m") + std::to_string(i.predicate.mask);
      if (k < program.lines[s].size()) one["line"] = program.lines[s][k].line;
      clock += i.clocks();
      instructions.push_back(std::move(one));
    }
    sections.push_back(
        {{"name", section_names[s]}, {"clocks", clock}, {"instructions", std::move(instructions)}});
  }
  return {
      {"sections", std::move(sections)}, {"portLimits", port_limits}, {"names", names_of(program)}};
}

json words_of(const std::vector<std::uint64_t>& shorts) {
  json words = json::array();
  for (std::size_t a = 0; a + 1 < shorts.size(); a += 2) {
    if (shorts[a] == 0 && shorts[a + 1] == 0) continue;
    const Long both = join(Short{shorts[a]}, Short{shorts[a + 1]});
    words.push_back({a, hex(shorts[a]), hex(shorts[a + 1]),
                     number_of(MachineFormat::FloatLong, Width::Long, both.bits),
                     number_of(MachineFormat::FloatShort, Width::Short, shorts[a]),
                     number_of(MachineFormat::FloatShort, Width::Short, shorts[a + 1])});
  }
  return words;
}

}  // namespace gdr::playground
