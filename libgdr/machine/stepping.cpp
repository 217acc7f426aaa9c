// Single-stepping: every instruction is prepared as a program of its own for the engine when it is
// first executed. Locations of sources and filling of the broadcast memory's halves are as on a
// board.
#include <algorithm>
#include <utility>

#include "emulator/isa/program.hpp"
#include "libgdr/machine/state.hpp"

namespace gdr {
namespace {

/// A program of one instruction of another program.
Program single_instruction_program(const Program& program, const Instruction& instruction) {
  Program one = program;
  for (auto& section : one.sections) section.clear();
  for (auto& lines : one.lines) lines.clear();
  one.section(Section::Body) = {instruction};
  one.lines[static_cast<unsigned>(Section::Body)] = {SourceLine{}};
  return one;
}

}  // namespace

/// Goes to the first instruction at or after the start of a section, skipping empty sections.
void Machine::Impl::enter_section(std::size_t where) {
  pass = next = 0;
  for (section = where; !at_end() && (code().empty() || passes() == 0);) ++section;
  if (!at_end() && stepped[section] == Section::Body) fill_half();
}

/// Fills a half of every block's broadcast memory, at the first group of the half.
void Machine::Impl::fill_half() {
  const LoadedProgram& p = *loaded;
  if (p.sources.empty()) return;
  const bool first =
      plan.groups_per_half == unlimited_groups ? pass == 0 : pass % plan.groups_per_half == 0;
  if (!first) return;
  const GroupRange groups{pass, std::min(plan.groups_per_half, plan.groups - pass)};
  std::vector<std::uint64_t> shorts(groups.count * p.halves.source_step), scratch;
  load_sources(p, plan, memory, {}, groups, shorts.data(), scratch);
  for (BlockState& block : chip.blocks)
    std::ranges::copy(shorts, block.bm.begin() + p.halves.source_base[half()]);
}

const Executable& Machine::Impl::executable() {
  auto& prepared = executables[static_cast<unsigned>(stepped[section])];
  prepared.resize(code().size());
  if (!prepared[next])
    prepared[next] =
        engine->prepare(single_instruction_program(loaded->program, code()[next]), geometry);
  return *prepared[next];
}

void Machine::Impl::execute() {
  BlockRun run;
  run.section = Section::Body;
  run.collect_flags = true;
  run.source_base = source_base();
  run.output_base = output_base();
  const Executable& one = executable();
  for (BlockState& block : chip.blocks) one.run(block, run);
  clock += code()[next].clocks();
}

void Machine::Impl::advance() {
  if (++next < code().size()) return;
  next = 0;
  if (++pass < passes()) return fill_half();
  enter_section(section + 1);
}

void Machine::restart() {
  impl_->program();
  impl_->clock = 0;
  for (BlockState& block : impl_->chip.blocks) block.flags = no_flags;
  impl_->enter_section(0);
}

bool Machine::step() {
  impl_->program();
  if (impl_->at_end()) return false;
  impl_->execute();
  impl_->advance();
  return true;
}

std::uint64_t Machine::run(std::uint64_t max_instructions) {
  std::uint64_t done = 0;
  while (done < max_instructions && step()) ++done;
  return done;
}

MachinePosition Machine::position() const {
  const Impl& m = *impl_;
  m.program();
  MachinePosition position;
  position.clock = m.clock;
  if (m.at_end()) return position;
  const auto number = static_cast<unsigned>(stepped[m.section]);
  const MachineInstruction instruction = m.instruction(number, m.next);
  position.section = section_names[number];
  position.pass = m.pass;
  position.instruction = m.next;
  position.text = instruction.text;
  position.line = instruction.line;
  position.file = instruction.file;
  return position;
}

MachinePlace Machine::place() const {
  const Impl& m = *impl_;
  m.program();
  const auto section = m.at_end() ? section_count : static_cast<unsigned>(stepped[m.section]);
  return {section, m.pass, m.next, m.clock};
}

MachineSnapshot Machine::snapshot() const {
  MachineSnapshot snapshot;
  snapshot.data_ = std::make_shared<const MachineSnapshotData>(
      MachineSnapshotData{impl_->chip, place(), impl_->inputs});
  return snapshot;
}

void Machine::restore(const MachineSnapshot& snapshot) {
  Impl& m = *impl_;
  m.program();
  if (snapshot.data_ == nullptr || snapshot.data_->inputs != m.inputs)
    usage_error("the snapshot is of another program, or of other sources");
  const MachineSnapshotData& data = *snapshot.data_;
  m.chip = data.chip;
  m.section = data.place.section - static_cast<unsigned>(stepped.front());
  m.pass = data.place.pass;
  m.next = data.place.instruction;
  m.clock = data.place.clock;
}

}  // namespace gdr
