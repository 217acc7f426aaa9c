#include "emulator/board/program_timing.hpp"

#include <algorithm>

#include "emulator/port/loaded_program.hpp"

namespace gdr {

ProgramTiming program_timing(const Program& p, const Geometry& geometry) {
  const LinkLayout layout = link_layout(p);
  ProgramTiming timing;
  timing.init_clocks = p.clocks(Section::Init);
  timing.start_clocks = p.clocks(Section::Start);
  timing.body_clocks = p.clocks(Section::Body);
  timing.end_clocks = p.clocks(Section::End);
  timing.group = std::max(1U, p.group);
  timing.groups_per_half = place_halves(p, geometry).groups;
  timing.target_words = layout.target_words;
  timing.source_words = layout.source_words;
  timing.result_words = words_of_target(layout, 0);
  timing.raw_result_words = words_of_target(layout, read_raw);
  timing.output_words = layout.output_words;
  timing.output_records = output_records(p, geometry, ChipPartition::TargetsOverBlocks);
  for (const LinkLayout::Field& field : layout.params)
    timing.param_words.push_back((field.half_words + 1) / 2);
  return timing;
}

std::uint64_t payload_length(const Command& c, const ProgramTiming& program) noexcept {
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

std::uint64_t result_length(const Command& c, const ProgramTiming& program) noexcept {
  switch (c.kind) {
    case CommandKind::ReadTargets:
      return c.count *
             ((c.flags & read_raw) != 0 ? program.raw_result_words : program.result_words);
    case CommandKind::ReadMemory:
      return c.count;
    case CommandKind::Run:
      return (c.flags & run_return) != 0 ? c.count * program.output_words_of_source(c.partition)
                                         : 0;
    default:
      return 0;
  }
}

}  // namespace gdr
