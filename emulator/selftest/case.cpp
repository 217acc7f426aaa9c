#include "emulator/selftest/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/host/hash.hpp"
#include "gdr/error.hpp"

namespace gdr::selftest {
namespace {

/// Fused run of Start, Body and End; false if the engine does not support it for this case.
bool run_program(const Executable& any, const Case& test, BlockState& state) {
  const StreamingExecutable* const streamed = any.streaming();
  if (streamed == nullptr) return false;
  const StreamingExecutable& executable = *streamed;
  const std::uint64_t groups = test.run.iterations;
  const std::size_t bytes = executable.stream_bytes();
  const bool plain = test.split == 0 && !test.run.collect_flags;
  if (!plain || bytes == 0 || groups > executable.max_fused_groups()) return false;
  std::vector<std::byte> stream(groups * bytes);
  const std::uint64_t* const items = state.bm.data() + test.run.source_base;
  if (!executable.convert_sources(items, groups, test.run.source_step, stream.data())) return false;
  BlockRun body = test.run;
  body.section = Section::Body;
  const auto last = static_cast<std::uint32_t>(groups - 1);
  body.stream = {stream.data(), test.run.source_base + last * test.run.source_step};
  // Without declared results, all words are.
  const bool declares_results = std::ranges::any_of(
      test.program.variables, [](const Variable& v) { return v.kind == VarKind::Result; });
  if (!declares_results) {
    body.results_only = true;
    if (const auto batch = executable.start_batch(1, groups)) {
      batch->begin(0, state, body);
      batch->run_bodies();
      if (batch->end(0, state, body)) return true;
    }
    body.results_only = false;
  }
  return executable.run_program(state, body);
}

}  // namespace

BlockState run_case(const Engine& engine, const Case& test) {
  BlockState state = test.state;
  const auto executable = engine.prepare(test.program, test.geometry);
  for (const Section section : {Section::Init, Section::Start, Section::Body, Section::End}) {
    if (section == Section::Start && test.fused && run_program(*executable, test, state)) break;
    if (test.program.section(section).empty()) continue;
    BlockRun run = test.run;
    run.section = section;
    if (section != Section::Body) run.iterations = 1;
    const bool split = section == Section::Body && test.split > 0 && test.split < run.iterations;
    if (split) {
      run.iterations = test.split;
      executable->run(state, run);
      const auto done = static_cast<std::uint32_t>(test.split);
      run.source_base += done * run.source_step;
      run.output_base += done * run.output_step;
      run.iterations = test.run.iterations - test.split;
    }
    executable->run(state, run);
  }
  return state;
}

bool agree(const Engine& reference, const Engine& other, const Case& test) {
  return run_case(reference, test) == run_case(other, test);
}

Case random_case(std::string_view category, std::uint64_t seed) {
  if (category == "operations") return operation_case(seed);
  if (category == "programs") return program_case(seed);
  if (category == "loops") return loop_case(seed);
  throw Error(ErrorCategory::Usage,
              fmt::format("there are no random programs named '{}'; there are operations, programs "
                          "and loops",
                          category));
}

std::string hash_text(const BlockState& state) {
  Hash hash;
  for (const NamedMemory& memory : block_memories)
    hash.add(std::span<const std::uint64_t>(state.*memory.lanes));
  return fmt::format("{:016x}", hash.add(state.flags).value());
}

std::uint64_t operations_of(const Case& test) noexcept {
  std::uint64_t sum = 0;
  for (unsigned s = 0; s < section_count; ++s) {
    const bool body = static_cast<Section>(s) == Section::Body;
    for (const Instruction& i : test.program.sections[s]) {
      const unsigned slots =
          (i.mul.used() ? 1U : 0U) + (i.alu.used() ? 1U : 0U) + (i.move.used() ? 1U : 0U);
      sum += (body ? test.run.iterations : 1) * i.vlen * slots;
    }
  }
  return sum * test.state.pes;
}

BlockState empty_block(const Geometry& geometry) {
  Geometry one = geometry;
  one.blocks = 1;
  return make_chip(one).blocks[0];
}

}  // namespace gdr::selftest
