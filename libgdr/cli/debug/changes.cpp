#include "libgdr/cli/debug/changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "emulator/assembler/instruction_text.hpp"
#include "emulator/isa/geometry.hpp"
#include "libgdr/cli/output.hpp"

namespace gdr::cli {
namespace {

constexpr std::array memories{MachineMemory::Registers, MachineMemory::Local, MachineMemory::T,
                              MachineMemory::Masks, MachineMemory::Broadcast};

std::optional<MachineMemory> memory_of(Space space) {
  if (space == Space::Register) return MachineMemory::Registers;
  if (space == Space::Local) return MachineMemory::Local;
  if (space == Space::Bm) return MachineMemory::Broadcast;
  return std::nullopt;
}

/// A changed word with its name.
struct Changed {
  WordNames::Name name;
  std::string before, after;
};

/// Whether both halves of a word of T have changed: else they are shown as independent shorts.
bool both_halves(const std::vector<std::uint64_t>& before, const std::vector<std::uint64_t>& after,
                 std::size_t address) {
  const std::size_t even = address & ~std::size_t{1};
  return before[even] != after[even] && before[even + 1] != after[even + 1];
}

std::vector<Changed> changed_words(const PeState& before, const PeState& after,
                                   const WordNames& names, ChangesOf what) {
  std::vector<Changed> list;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    // Sources change the broadcast memory, too.
    const bool shared = memories[m] == MachineMemory::Broadcast;
    if (shared && what == ChangesOf::Variables) continue;
    for (std::size_t a = 0; a < before[m].size(); ++a) {
      if (before[m][a] == after[m][a]) continue;
      WordNames::Name name = names.of(memories[m], a);
      if (memories[m] == MachineMemory::T &&
          !names.writes_long_t().value_or(both_halves(before[m], after[m], a))) {
        name.is_long = false;
        name.text = a % 2 == 0 ? "$th" : "$tl";
      }
      const std::size_t address = name.is_long ? a & ~std::size_t{1} : a;
      if (name.is_long) a = address + 1;
      if ((shared || what == ChangesOf::Variables) && !name.declared) continue;
      const MachineWord word{memories[m], 0, 0, address, name.is_long};
      const auto bits = [&](const std::vector<std::uint64_t>& shorts) {
        return name.is_long ? MachineBits{shorts[address], shorts[address + 1]}
                            : MachineBits{0, shorts[address]};
      };
      list.push_back({name, value_text(bits(before[m]), word, name.format, true),
                      value_text(bits(after[m]), word, name.format, true)});
    }
  }
  return list;
}

/// Whether a line has this word.
bool has_word(std::string_view line, std::string_view word) {
  const auto in_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = line.find(word); at != std::string_view::npos;
       at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !in_word(line[at - 1])) && (end == line.size() || !in_word(line[end])))
      return true;
  }
  return false;
}

/// The name of an operand; of several the one in the source line. Empty if it has none.
std::string name_of(const Program& program, const Operand& operand, std::string_view source_line) {
  std::vector<std::string> all;
  const auto add = [&](const std::string& name, const Operand& location) {
    if (location.space == operand.space && location.address == operand.address &&
        location.width == operand.width && location.vector == operand.vector)
      all.push_back(name);
  };
  for (const Variable& v : program.variables) add(v.name, v.location);
  for (const Symbol& s : program.symbols) add(s.name, s.location);
  if (all.size() <= 1) return all.empty() ? std::string() : all.front();
  const auto named =
      std::ranges::find_if(all, [&](const std::string& n) { return has_word(source_line, n); });
  return named == all.end() ? std::string() : *named;
}

/// "ax", "ax[2]" or "ax[1..2]".
std::string range_text(const WordNames::Name& first, int last) {
  if (first.element < 0) return first.text;
  const auto count = static_cast<std::size_t>(last - first.element) + 1;
  if (count == first.count) return first.text;
  return count == 1 ? fmt::format("{}[{}]", first.text, first.element)
                    : fmt::format("{}[{}..{}]", first.text, first.element, last);
}

}  // namespace

PeState pe_state(const Machine& machine, std::size_t block, std::size_t pe) {
  PeState state;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    state[m].resize(machine.memory_size(memories[m]));
    for (std::size_t a = 0; a < state[m].size(); ++a)
      state[m][a] = machine.word(memories[m], block, a, pe);
  }
  return state;
}

void WordNames::add_destination(const Machine& machine, const Program& program,
                                const Operand& operand, unsigned elements,
                                std::string_view source_line) {
  const auto memory = memory_of(operand.space);
  if (!memory) return;
  Entry entry{*memory,
              operand.address,
              shorts_in(operand.width),
              operand.vector ? elements : std::size_t{1},
              {}};
  entry.name.is_long = operand.width == Width::Long;
  entry.name.count = entry.count;
  entry.name.text = name_of(program, operand, source_line);
  entry.name.declared = true;
  if (entry.name.text.empty()) entry.name.text = gdr::location_text(operand);
  // The value's format is that of the variable, if there is one.
  for (const MachineVariable& v : machine.variables())
    if (v.memory == *memory && v.address == operand.address && !v.conversion.empty())
      entry.name.format = format_of(v.conversion);
  entries_.push_back(std::move(entry));
}

WordNames::WordNames(const Machine& machine, const Program& program, const Instruction& instruction,
                     std::string_view source_line) {
  const auto add = [&](const Operand& operand) {
    add_destination(machine, program, operand, instruction.vlen, source_line);
  };
  add(instruction.mul.dst);
  add(instruction.alu.dst);
  if (instruction.move.op == Op::Bget) add(instruction.move.pe);
  if (instruction.move.op == Op::Bput) add(instruction.move.bm);
  const auto add_t = [&](const Operand& dst, TTarget t) {
    if (dst.space == Space::T) long_t_ = dst.width == Width::Long;
    if (t != TTarget::None) long_t_ = t == TTarget::Whole;
  };
  add_t(instruction.mul.dst, instruction.mul.t);
  add_t(instruction.alu.dst, instruction.alu.t);
  if (instruction.move.op == Op::Bget) add_t(instruction.move.pe, TTarget::None);
  const WordNames others(machine);
  entries_.insert(entries_.end(), others.entries_.begin(), others.entries_.end());
}

WordNames::WordNames(const Machine& machine) {
  for (const MachineVariable& v : machine.variables())
    entries_.push_back(
        {v.memory,
         v.address,
         v.step,
         v.count,
         {v.name, 0, v.count, v.is_long, format_of(v.conversion), v.kind != "name"}});
}

WordNames::Name WordNames::of(MachineMemory memory, std::size_t address) const {
  if (memory == MachineMemory::T)
    return {"$t", static_cast<int>(address / 2), max_elements, true, {}};
  if (memory == MachineMemory::Masks)
    return {fmt::format("m{}", address / max_elements),
            static_cast<int>(address % max_elements),
            max_elements,
            false,
            {}};
  const Entry* found = nullptr;
  bool unique = true;
  for (const Entry& e : entries_) {
    const std::size_t width = e.name.is_long ? 2 : 1;
    if (e.memory != memory || address < e.first ||
        address >= e.first + (e.count - 1) * e.step + width)
      continue;
    if (found != nullptr && found->name.declared) break;
    unique = found == nullptr || e.name.declared;
    found = &e;
  }
  if (found == nullptr || !unique) {
    const MachineWord word{memory, 0, 0, address, false};
    return {location_text(word), -1, 1, false, {}};
  }
  Name name = found->name;
  name.element = name.count == 1 ? -1 : static_cast<int>((address - found->first) / found->step);
  return name;
}

std::string changes_text(const PeState& before, const PeState& after, const WordNames& names,
                         ChangesOf what) {
  const std::vector<Changed> changed = changed_words(before, after, names, what);
  std::string text;
  for (std::size_t k = 0; k < changed.size();) {
    const WordNames::Name& name = changed[k].name;
    std::size_t end = k + 1;
    while (end < changed.size() && name.element >= 0 && changed[end].name.text == name.text &&
           changed[end].name.element == name.element + static_cast<int>(end - k))
      ++end;
    std::string old, now;
    for (std::size_t w = k; w < end; ++w) {
      old += " " + changed[w].before;
      now += " " + changed[w].after;
    }
    text +=
        fmt::format("  {:<10}{} ->{}\n", range_text(name, changed[end - 1].name.element), old, now);
    k = end;
  }
  return text;
}

}  // namespace gdr::cli
