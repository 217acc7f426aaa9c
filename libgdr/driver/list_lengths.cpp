#include "libgdr/driver/list_lengths.hpp"

#include <algorithm>
#include <bit>

#include "emulator/assembler/object.hpp"
#include "gdr/error.hpp"

namespace gdr::driver {

ProgramLengths program_lengths(std::span<const std::uint64_t> payload, std::uint64_t bytes) {
  ProgramLengths lengths;
  if (bytes > payload.size_bytes()) return lengths;
  try {
    const Program program =
        read_object(std::span(reinterpret_cast<const std::uint8_t*>(payload.data()), bytes));
    const LinkLayout layout = link_layout(program);
    lengths = {layout.target_words,
               layout.result_words,
               layout.output_words,
               words_of_target(layout, read_raw),
               {},
               program.clocks(Section::Body),
               program.clocks(Section::Start) + program.clocks(Section::End),
               std::max(1U, program.group)};
    for (const LinkLayout::Field& f : layout.params)
      lengths.param_words.push_back((f.half_words + 1) / 2);
  } catch (const Error&) {
    return {};
  }
  return lengths;
}

const ProgramLengths& program_of(const ChipPrograms& chips, const Command& command) noexcept {
  static const ProgramLengths nothing;
  const auto first = static_cast<std::size_t>(std::countr_zero(command.chips));
  return first < chips.size() ? chips[first] : nothing;
}

void load(ChipPrograms& chips, const Command& command, const ProgramLengths& program) {
  for (std::size_t c = 0; c < chips.size(); ++c)
    if (command.chips == 0 || ((command.chips >> c) & 1) != 0) chips[c] = program;
}

std::uint64_t payload_length(const Command& c, const ProgramLengths& program) noexcept {
  switch (c.kind) {
    case CommandKind::LoadProgram:
      return c.count / 8 + (c.count % 8 != 0 ? 1 : 0);
    case CommandKind::WriteMemory:
      return c.count;
    case CommandKind::WriteTargets:
      return c.count * program.target_words;
    case CommandKind::WriteParam:
      return c.variable < program.param_words.size() ? program.param_words[c.variable] : 0;
    default:
      return 0;
  }
}

std::uint64_t result_length(const Command& c, const ProgramLengths& program) noexcept {
  switch (c.kind) {
    case CommandKind::ReadTargets:
      return c.count * ((c.flags & read_raw) != 0 ? program.raw_words : program.result_words);
    case CommandKind::ReadMemory:
      return c.count;
    case CommandKind::Run:
      return (c.flags & run_return) != 0 ? c.count * program.output_words : 0;
    default:
      return 0;
  }
}

void add_work(ListWork& work, const Command& c, const ProgramLengths& program,
              const Geometry& geometry) noexcept {
  if (c.kind != CommandKind::Run) return;
  const double items =
      static_cast<double>(c.count) / (c.share == Share::SourcesOverBlocks ? geometry.blocks : 1);
  const double passes = items / program.group + 1;
  const double clocks =
      passes * static_cast<double>(program.body_clocks) + static_cast<double>(program.other_clocks);
  const double of_block = clocks * geometry.pes_per_block;
  work.block_lane_clocks = std::max(work.block_lane_clocks, of_block);
  work.lane_clocks += of_block * geometry.blocks * geometry.chips_per_board;
}

}  // namespace gdr::driver
