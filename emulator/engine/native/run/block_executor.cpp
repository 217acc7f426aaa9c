#include "emulator/engine/native/run/block_executor.hpp"

#include <algorithm>

#include "emulator/engine/native/run/section_loads.hpp"
#include "emulator/engine/native/run/section_run.hpp"
#include "emulator/engine/native/translate/float_range.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr::native {

void run_section(const CompiledSection& section, BlockState& block, const BlockRun& run) {
  SectionRun section_run(section, block, run);
  if (section.loops()) {
    section_run.run_iterations(run.iterations, run.source_base);
    return;
  }
  std::uint32_t source = run.source_base;
  for (std::uint64_t i = 0; i < run.iterations; ++i) {
    section_run.run_iterations(1, source);
    source += run.source_step;
  }
}

void run_program(const CompiledProgram& program, BlockState& block, const BlockRun& body) {
  SectionRun(*program.section(Section::Start), block, body)
      .leave_to(*program.section(Section::Body));
  SectionRun(*program.section(Section::Body), block, body)
      .run_iterations(body.iterations, body.source_base, true);
  BlockRun end = body;
  end.stream = {};
  SectionRun(*program.section(Section::End), block, end).run_iterations(1, body.source_base);
}

void start_packed(const CompiledProgram& program, const PackedTargets& targets) {
  BlockRun run;
  run.live_pes = targets.live;
  SectionRun start(*program.section(Section::Start), targets.block, run, targets.folded);
  start.leave_out_idle_pes();
  if (program.fusable)
    start.leave_to(*program.section(Section::Body));
  else
    start.run_iterations(1, 0);
}

namespace {

void end_packed(const CompiledProgram& program, const PackedTargets& targets) {
  BlockRun run;
  run.live_pes = targets.live;
  SectionRun(*program.section(Section::End), targets.block, run, targets.folded)
      .run_iterations(1, 0);
}

/// The whole body as one run, for a GPU.
BlockRun body_of(const PackedTargets& targets, const PackedSources& sources) {
  BlockRun body;
  body.live_pes = targets.live;
  body.stream = {sources.groups, sources.address};
  return body;
}

}  // namespace

bool run_packed(const CompiledProgram& program, const PackedTargets& targets,
                const PackedSources& sources) {
  start_packed(program, targets);
  const std::size_t bytes = program.section(Section::Body)->stream_bytes();
  BlockRun body = body_of(targets, sources);
  const std::uint64_t* last_group = sources.last_groups;
  for (std::uint64_t done = 0; done < sources.count; last_group += sources.group_shorts) {
    const std::uint64_t some = std::min(groups_between_polls, sources.count - done);
    std::copy_n(last_group, sources.group_shorts, targets.block.bm.data() + sources.address);
    SectionRun loop(*program.section(Section::Body), targets.block, body, targets.folded);
    if (sources.windows != nullptr)
      loop.set_windows(*sources.windows, sources.first_window + done / SourceWindows::groups);
    if (sources.vectors) loop.set_source_vectors();
    if (!loop.run_iterations(some, 0, done == 0 && program.fusable)) return false;
    body.stream.groups += some * bytes;
    done += some;
    if (done < sources.count) cancellation_point();
  }
  end_packed(program, targets);
  return true;
}

bool load_packed(const CompiledProgram& program, const PackedTargets& targets,
                 const PackedSources& sources, GpuBatch& batch, const GpuSlot& slot) {
  start_packed(program, targets);
  const BlockRun body = body_of(targets, sources);
  SectionRun loop(*program.section(Section::Body), targets.block, body, targets.folded);
  return loop.load(sources.count, program.fusable, batch, slot);
}

bool finish_packed(const CompiledProgram& program, const PackedTargets& targets,
                   const PackedSources& sources, const GpuBatch& batch, const GpuSlot& slot) {
  start_packed(program, targets);
  const std::uint64_t parts = (sources.count + groups_between_polls - 1) / groups_between_polls;
  std::copy_n(sources.last_groups + (parts - 1) * sources.group_shorts, sources.group_shorts,
              targets.block.bm.data() + sources.address);
  const BlockRun body = body_of(targets, sources);
  SectionRun loop(*program.section(Section::Body), targets.block, body, targets.folded);
  if (!loop.finish_loaded(sources.count, program.fusable, batch, slot)) return false;
  end_packed(program, targets);
  return true;
}

bool convert_sources(const CompiledSection& section, const std::uint64_t* shorts,
                     std::size_t groups, std::uint32_t step, std::byte* to) noexcept {
  const MachineFloatMode mode;
  const RangeErrorMonitor range_errors(true);
  const bool fits =
      convert_groups(section.source_words().words, section.precision(), shorts, groups, step, to);
  return fits && (section.precision() == Precision::Double || !range_errors.detected());
}

}  // namespace gdr::native
