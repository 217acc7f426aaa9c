#include "emulator/engine/native/program/written_longs.hpp"

#include <algorithm>

#include "emulator/isa/table.hpp"
#include "emulator/isa/validate.hpp"

namespace gdr::native {
namespace {

/// Whether an operation computes bits in the lower half of a long.
bool makes_long_integers(const Arithmetic& slot) {
  return makes_integers(slot) &&
         (slot.width == Width::Long || slot.dst.address % 2 != 0 || slot.t == TTarget::Lower);
}

/// Adds the words of an element that may be long integers.
void add_integers(const Instruction& i, unsigned k, const CellMap& map, WrittenLongs& written) {
  const auto add = [&](const Operand& x) {
    if (is_fixed_in_pe(x)) written.integers.insert(map.cell(x, k) & ~1U);
  };
  for (const Arithmetic* slot : {&i.alu, &i.mul}) {
    if (!slot->used() || info(slot->op).unit != Unit::Integer) continue;
    if (slot->dst.used()) add(slot->dst);
    if (slot->t != TTarget::None) written.integers.insert(map.t + k * 2);
  }
  if (i.move.op == Op::Bget) add(i.move.pe);
  if (i.move.op == Op::Bput) written.stored_integers.insert(i.move.bm.at(k));
}

}  // namespace

bool is_fixed_in_pe(const Operand& x) {
  return x.space == Space::Register || x.space == Space::Local || x.space == Space::T;
}

bool makes_integers(const Arithmetic& slot) {
  return slot.used() && info(slot.op).unit == Unit::Integer && slot.op != Op::Ipass &&
         slot.op != Op::Upass;
}

WrittenLongs longs_written_by(const SectionModel& model) {
  WrittenLongs written;
  written.cells.resize(model.map.count);
  for (const List& list : model.lists)
    for (std::uint32_t at = list.first; at <= list.last; ++at)
      written.integers.insert((model.map.local + at) & ~1U);
  for (const std::uint32_t cell : model.written) {
    written.cells[cell] = true;
    const CellValue lower = model.state[cell | 1];
    if (!model.cells.holds_half(lower)) continue;
    written.numbers.insert(cell & ~1U);
    if (model.longs_are_doubles || !model.cells.is_half_of_number(lower)) continue;
    const Ref number = model.cells.number_of_half(lower);
    if (const auto added = constant_added(model.graph, model.graph[number]))
      written.added[cell & ~1U].push_back(*added);
  }
  return written;
}

WrittenLongs longs_written_by(const Program& program, Section section, const CellMap& map) {
  WrittenLongs written;
  written.cells.resize(map.count);  // none for certain
  const auto& instructions = program.section(section);
  const bool has_long_integers = std::ranges::any_of(instructions, [](const Instruction& i) {
    return makes_long_integers(i.alu) || makes_long_integers(i.mul);
  });
  if (!has_long_integers) return written;
  for (const Instruction& i : instructions) {
    if (uses_t_address(i))
      for (std::uint32_t cell = map.local; cell < map.t; cell += 2) written.integers.insert(cell);
    for (unsigned k = 0; k < i.vlen; ++k) add_integers(i, k, map, written);
  }
  return written;
}

}  // namespace gdr::native
