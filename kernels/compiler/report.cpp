
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "emulator/assembler/assembler.hpp"
#include "emulator/isa/ports.hpp"
#include "kernels/compiler/codegen.hpp"

namespace gdr::kc {
namespace {

using Row = std::vector<std::string>;

constexpr std::array<const char*, port_count> port_heads{"Rr", "Rw", "LM", "Tr", "Tw", "BM"};

/// One slot of an instruction as text; empty if it is idle.
std::string slot_text(const Instruction& all, unsigned slot) {
  Instruction one;
  one.vlen = all.vlen;
  if (slot == 0) one.mul = all.mul;
  if (slot == 1) one.alu = all.alu;
  if (slot == 2) one.move = all.move;
  return one.idle() ? "" : to_text(one);
}

/// Columns padded to their longest entry.
std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (const Row& row : rows) {
    // Loops have thousands of rows: append, instead of formatting each cell.
    std::size_t spaces = 1;
    for (std::size_t c = 0; c < row.size(); ++c) {
      ++spaces;
      if (!row[c].empty()) {
        out.append(spaces, ' ').append(row[c]);
        spaces = 0;
      }
      spaces += widths[c] - row[c].size() + 1;
    }
    out += '\n';
  }
  return out;
}

std::string body_table(const Program& program, const Geometry& geometry) {
  std::vector<Row> rows{{"clock", "multiplier", "adder, integer unit", "transfer"}};
  for (const char* head : port_heads) rows[0].emplace_back(head);
  std::array<unsigned, 3> slots{};
  std::array<unsigned, port_count> ports{}, available{};
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
    const auto used = port_accesses(i, geometry);
    for (std::size_t p = 0; p < port_count; ++p) {
      row.push_back(used[p] == 0 ? "." : std::to_string(used[p]));
      ports[p] += used[p];
      available[p] += port_limits[p] * i.stride();
    }
    clock += i.clocks();
    rows.push_back(std::move(row));
  }
  const std::size_t n = program.section(Section::Body).size();
  Row sum{"used"};
  for (const unsigned s : slots) sum.push_back(fmt::format("{} of {}", s, n));
  for (std::size_t p = 0; p < port_count; ++p)
    sum.push_back(fmt::format("{}/{}", ports[p], available[p]));
  rows.push_back(std::move(sum));
  return table(rows);
}

std::string storage_text(const CompiledKernel& c, std::size_t value) {
  const MachineValue& v = c.loop.values[value];
  const Placement& p = c.schedule.placement[value];
  const bool is_long = v.width == Width::Long;
  const auto t_name = [&](StorageClass h) {
    return is_long ? "T" : h == StorageClass::TLower ? "T lower" : "T upper";
  };
  if (p.storage == StorageClass::TUpper || p.storage == StorageClass::TLower)
    return t_name(p.storage);
  std::string text =
      p.storage == StorageClass::Local && v.origin != Origin::Accumulator ? "LM" : "R";
  const auto& where = c.allocation.address[value];
  for (std::size_t k = 0; k < where.size(); ++k) {
    if (k > 0 && where[k] == where[0]) continue;
    text += fmt::format("{}{}", k == 0 ? " " : ", ", where[k]);
  }
  if (p.has_t_copy && v.origin == Origin::Computed && v.uses.size() > 1)
    text += fmt::format("; copy in {} for the first reader{}", t_name(p.t_copy_storage),
                        p.t_copy_readers > 1 ? "s" : "");
  return text;
}

std::string name_of(const CompiledKernel& c, const MachineValue& v) {
  if (v.variable != none) return c.graph.variable(v.variable).name;
  if (v.defs.empty()) return v.name;
  const std::string& text = c.loop.op(v.defs.back()).text;
  return text.empty() ? v.name : text;
}

std::string value_table(const CompiledKernel& c) {
  std::vector<Row> rows{{"value", "kind", "storage", "from", "to"}};
  constexpr std::array<const char*, 4> origins{"", ", source", ", invariant", ", result"};
  for (std::size_t i = 0; i < c.loop.values.size(); ++i) {
    const MachineValue& v = c.loop.values[i];
    if (v.origin != Origin::Accumulator && v.uses.empty()) continue;
    std::string from, to;
    if (!v.defs.empty() && v.origin != Origin::Accumulator) {
      int first = std::numeric_limits<int>::max(), last = 0;
      for (const OpId d : v.defs) first = std::min(first, c.schedule.time_of(d));
      for (const OpId u : v.uses) last = std::max(last, c.schedule.time_of(u));
      const int clocks = static_cast<int>(c.loop.elements);
      from = v.origin == Origin::Field ? "load" : std::to_string(first * clocks);
      to = std::to_string(last * clocks);
    }
    const std::string kind = std::string(v.width == Width::Long ? "long" : "short") +
                             origins[static_cast<std::size_t>(v.origin)];
    rows.push_back({name_of(c, v), kind, storage_text(c, i), from, to});
  }
  return table(rows);
}

}  // namespace

std::string report(const CompiledKernel& c, const Program& program, const Geometry& geometry) {
  std::string out = fmt::format("{}: {:.4g} clocks per interaction\n", program.name,
                                program.clocks_per_interaction());
  out += fmt::format(
      "  {} targets per PE, {} source{} per iteration; body {} clocks, start {}, end {}\n",
      program.elements, program.group, program.group == 1 ? "" : "s", program.clocks(Section::Body),
      program.clocks(Section::Start), program.clocks(Section::End));
  out += fmt::format("  initiation interval: {} instructions, lower bound {} ({})\n", c.schedule.ii,
                     c.bounds.least(), name_of(c.bounds.limiting()));
  out += fmt::format("  registers {} of {} shorts, local memory {} of {}, masks {}\n",
                     c.allocation.registers_used, 2 * geometry.register_words,
                     c.allocation.local_used, 2 * geometry.local_words, c.allocation.masks_used);
  for (const std::string& remark : c.remarks) out += "  " + remark + "\n";
  out +=
      "\nInstructions of the body. Port accesses per clock: Rr Rw register file (2 reads, 1\n"
      "write), LM local memory (1), Tr Tw the T register (1 and 1), BM broadcast memory (1).\n\n";
  out += body_table(program, geometry);
  out +=
      "\nStorage (short addresses, one per source of an iteration) and lifetimes of values, in "
      "clocks\n"
      "from the start of their source. Lifetimes may extend into the next iterations.\n\n";
  out += value_table(c);
  return out;
}

}  // namespace gdr::kc
