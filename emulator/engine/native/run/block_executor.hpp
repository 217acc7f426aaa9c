// Execution of a compiled section on one block: state to lanes, code, lanes to state.
#pragma once

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/native/program/program.hpp"

namespace gdr::native {

/// As Executable::run. The float mode must be MachineFloatMode's.
void run_section(const CompiledSection& section, BlockState& block, const BlockRun& run);

/// As StreamingExecutable::run_program, for a fusable program.
void run_program(const CompiledProgram& program, BlockState& block, const BlockRun& body);

/// As StreamingExecutable::convert_sources.
bool convert_sources(const CompiledSection& section, const std::uint64_t* shorts,
                     std::size_t groups, std::uint32_t step, std::byte* to) noexcept;

/// Groups of sources between two cancellation points: some milliseconds of work.
constexpr std::uint64_t groups_between_polls = 16384;
static_assert(groups_between_polls % SourceWindows::groups == 0);

class GpuBatch;
struct GpuSlot;

/// The sources of packed targets.
struct PackedSources {
  const std::byte* groups = nullptr;  ///< groups of a SourceStream, or rows of SourceVectors
  std::uint64_t count = 0;
  /// Rows, at most `groups_between_polls`. The last one is the same in all lanes if the loop leaves
  /// any word of it.
  bool vectors = false;
  /// The last group of each part as shorts of the broadcast memory, and its address.
  const std::uint64_t* last_groups = nullptr;
  std::uint32_t group_shorts = 0, address = 0;
  const SourceWindows* windows = nullptr;
  std::uint64_t first_window = 0;  ///< window of the first group
};

/// A packed block: `live` PEs hold targets; folded: in element 0 only.
struct PackedTargets {
  BlockState& block;
  std::uint32_t live = 0;
  bool folded = false;
};

/// Runs Start.
void start_packed(const CompiledProgram& program, const PackedTargets& targets);
/// Runs Start, the body over all sources, and End. False, without results, if the code for vectors
/// of sources cannot do it: among floats, numbers or integers beyond their range.
bool run_packed(const CompiledProgram& program, const PackedTargets& targets,
                const PackedSources& sources);

/// The same with the body on a GPU, before and after GpuBatch::run. `load_packed` runs Start and
/// loads the work items of the body; false if the GPU cannot take them. `finish_packed`, on the
/// block as it was before, runs Start, takes the results and runs End; false if floats cannot
/// represent them: then the block has to be run again on the host, as it was before.
bool load_packed(const CompiledProgram& program, const PackedTargets& targets,
                 const PackedSources& sources, GpuBatch& batch, const GpuSlot& slot);
bool finish_packed(const CompiledProgram& program, const PackedTargets& targets,
                   const PackedSources& sources, const GpuBatch& batch, const GpuSlot& slot);

}  // namespace gdr::native
