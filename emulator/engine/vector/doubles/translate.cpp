#include "emulator/engine/vector/doubles/translate.hpp"

#include <algorithm>

#include "emulator/engine/vector/doubles/row_program.hpp"
#include "emulator/isa/table.hpp"

namespace gdr {
namespace {

bool uses_floats(const Instruction& i) {
  const auto floats = [](const Arithmetic& slot) {
    return slot.used() && info(slot.op).unit != Unit::Integer;
  };
  return floats(i.mul) || floats(i.alu);
}

/// The place of an instruction: section, number, and its line if that is known.
std::string place_of(const Program& program, Section which, std::size_t number) {
  const auto s = static_cast<unsigned>(which);
  std::string text = std::string(section_names[s]) + ", instruction " + std::to_string(number);
  const auto& lines = program.lines[s];
  if (number >= lines.size() || lines[number].line == 0) return text;
  const SourceLine& from = lines[number];
  text += ", ";
  if (from.file < program.files.size()) text += program.files[from.file] + ":";
  return text + std::to_string(from.line);
}

}  // namespace

DoublesSection translate_to_doubles(const Program& program, Section which, const Geometry& geometry,
                                    const DoublesKernels& kernels, bool heads) {
  const std::vector<Instruction>& section = program.section(which);
  DoublesSection out;
  if (std::none_of(section.begin(), section.end(), uses_floats)) return out;
  try {
    RowSection rows = translate_section(section, geometry, kernels, heads);
    const WordNumbers numbers(geometry);
    RowProgram one(rows, numbers, std::vector<bool>(numbers.count(), true));
    one.iteration = std::move(rows.ops);
    one.repeats = which == Section::Body;
    for (RowOp& o : one.iteration) o.origin.section = which;
    out = lay_out(std::move(one), kernels, row_lanes(geometry, kernels));
    out.writes_memory = rows.writes_memory;
  } catch (const Untranslatable& u) {
    out.reason = place_of(program, which, u.instruction) + ": " + u.why;
  }
  out.has_floats = true;
  return out;
}

}  // namespace gdr
