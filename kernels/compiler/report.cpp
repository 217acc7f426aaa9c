#include "kernels/compiler/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "emulator/assembler/assembler.hpp"
#include "emulator/isa/ports.hpp"

namespace gdr::kc {
namespace {

using Row = std::vector<std::string>;

constexpr std::array<const char*, port_count> port_heads{"Rr", "Rw", "LM", "Tr", "Tw", "BM"};

/// One slot of an instruction as text; empty if it is.
std::string slot_text(const Instruction& all, unsigned slot) {
  Instruction one;
  one.vlen = all.vlen;
  if (slot == 0) one.mul = all.mul;
  if (slot == 1) one.alu = all.alu;
  if (slot == 2) one.move = all.move;
  return one.idle() ? "" : to_text(one);
}

std::array<unsigned, port_count> ports_of(const Instruction& instruction,
                                          const Geometry& geometry) {
  std::vector<Access> accesses;
  accesses_of_element(instruction, 0, geometry, accesses);
  std::array<unsigned, port_count> used{};
  for (const Access& a : accesses)
    if (a.what != Access::What::Mask) ++used[static_cast<std::size_t>(port_of(a))];
  return used;
}

/// Columns as wide as their longest entry.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line = " ";
    for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format(" {:<{}} ", row[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string body_table(const Program& program, const Geometry& geometry) {
  std::vector<Row> rows{{"clock", "multiplier", "adder, integer unit", "transfer"}};
  for (const char* head : port_heads) rows[0].emplace_back(head);
  std::array<unsigned, 3> slots{};
  std::array<unsigned, port_count> ports{}, room{};
  unsigned clock = 0;
  for (const Instruction& i : program.section(Section::Body)) {
    Row row{std::to_string(clock)};
    const std::string predicate =
        i.predicate.used ? fmt::format("[{}m{}] ", i.predicate.value ? "" : "!", i.predicate.mask)
                         : "";
    for (unsigned s = 0; s < 3; ++s) {
      const std::string text = slot_text(i, s);
      if (!text.empty()) ++slots[s];
      row.push_back(text.empty() ? "-" : predicate + text);
    }
    const auto used = ports_of(i, geometry);
    for (std::size_t p = 0; p < port_count; ++p) {
      row.push_back(used[p] == 0 ? "." : std::to_string(used[p]));
      ports[p] += used[p];
      room[p] += port_limits[p] * i.stride();
    }
    clock += i.clocks();
    rows.push_back(std::move(row));
  }
  const std::size_t n = program.section(Section::Body).size();
  Row sum{"used"};
  for (const unsigned s : slots) sum.push_back(fmt::format("{} of {}", s, n));
  for (std::size_t p = 0; p < port_count; ++p)
    sum.push_back(fmt::format("{}/{}", ports[p], room[p]));
  rows.push_back(std::move(sum));
  return table(rows);
}

std::string home_text(const Compiled& c, std::size_t value) {
  const MachineValue& v = c.loop.values[value];
  const Placement& p = c.schedule.place[value];
  const bool is_long = v.width == Width::Long;
  const auto t_name = [&](Home h) {
    return is_long ? "T" : h == Home::TLower ? "T lower" : "T upper";
  };
  if (p.home == Home::TUpper || p.home == Home::TLower) return t_name(p.home);
  std::string text = p.home == Home::Local && v.origin != Origin::Accumulator ? "LM" : "R";
  const auto& where = c.layout.address[value];
  for (std::size_t k = 0; k < where.size(); ++k) {
    if (k > 0 && where[k] == where[0]) continue;
    text += fmt::format("{}{}", k == 0 ? " " : ", ", where[k]);
  }
  if (p.copy && v.origin == Origin::Computed && v.uses.size() > 1)
    text += fmt::format("; {} for the first reader{}", t_name(p.copy_home),
                        p.copy_reads > 1 ? "s" : "");
  return text;
}

std::string name_of(const Compiled& c, const MachineValue& v) {
  if (v.variable != none) return c.graph.variables[static_cast<std::size_t>(v.variable)].name;
  if (v.defs.empty()) return v.name;
  const std::string& text = c.loop.ops[static_cast<std::size_t>(v.defs.back())].text;
  return text.empty() ? v.name : text;
}

std::string value_table(const Compiled& c) {
  std::vector<Row> rows{{"value", "kind", "lives in", "from", "to"}};
  constexpr std::array<const char*, 4> origins{"", ", of the source", ", before the loop", ", sum"};
  for (std::size_t i = 0; i < c.loop.values.size(); ++i) {
    const MachineValue& v = c.loop.values[i];
    if (v.origin != Origin::Accumulator && v.uses.empty()) continue;
    std::string from, to;
    if (!v.defs.empty() && v.origin != Origin::Accumulator) {
      int first = std::numeric_limits<int>::max(), last = 0;
      for (const OpId d : v.defs)
        first = std::min(first, c.schedule.time[static_cast<std::size_t>(d)]);
      for (const OpId u : v.uses)
        last = std::max(last, c.schedule.time[static_cast<std::size_t>(u)]);
      const int clocks = static_cast<int>(c.loop.elements);
      from = v.origin == Origin::Field ? "load" : std::to_string(first * clocks);
      to = std::to_string(last * clocks);
    }
    const std::string kind = std::string(v.width == Width::Long ? "long" : "short") +
                             origins[static_cast<std::size_t>(v.origin)];
    rows.push_back({name_of(c, v), kind, home_text(c, i), from, to});
  }
  return table(rows);
}

}  // namespace

std::string report(const Compiled& c, const Program& program, const Geometry& geometry) {
  std::string out = fmt::format("{}: {:.4g} clocks an interaction\n", program.name,
                                program.clocks_per_interaction());
  out += fmt::format("  {} targets in a PE, {} source{} a pass; body {} clocks, start {}, end {}\n",
                     program.elements, program.group, program.group == 1 ? "" : "s",
                     program.clocks(Section::Body), program.clocks(Section::Start),
                     program.clocks(Section::End));
  out += fmt::format("  a new source every {} instructions; the operations alone would take {}\n",
                     c.schedule.interval, least_interval(c.problem));
  out += fmt::format("  registers {} of {} shorts, local memory {} of {}, masks {}\n",
                     c.layout.registers_used, 2 * geometry.register_words, c.layout.local_used,
                     2 * geometry.local_words, c.layout.masks_used);
  for (const std::string& remark : c.remarks) out += "  " + remark + "\n";
  out +=
      "\nThe body, instruction by instruction. Accesses a clock: Rr Rw register file (2 reads, 1\n"
      "write), LM local memory (1), Tr Tw the T register (1 and 1), BM broadcast memory (1).\n\n";
  out += body_table(program, geometry);
  out +=
      "\nWhere values live (short addresses; one for each source of a pass), in clocks from the\n"
      "start of their source. What reaches past the body's clocks goes on in the next pass.\n\n";
  out += value_table(c);
  return out;
}

}  // namespace gdr::kc
