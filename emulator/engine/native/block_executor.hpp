// Execution of a compiled section on one block: state to lanes, code, lanes to state.
#pragma once

#include "emulator/engine/engine.hpp"
#include "emulator/engine/native/program.hpp"

namespace gdr {
struct Gpu;
}

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

class GpuSources;

/// Sources in a GPU's memory, for a loop that runs there.
struct OnGpu {
  Gpu* gpu = nullptr;
  const GpuSources* sources = nullptr;
  std::uint64_t first_group = 0;  ///< of the loop's sources
};

/// The sources of packed targets.
struct PackedSources {
  const std::byte* groups = nullptr;  ///< groups of a SourceStream
  std::uint64_t count = 0;
  /// The last group of each part as shorts of the broadcast memory, and its address.
  const std::uint64_t* last_groups = nullptr;
  std::uint32_t group_shorts = 0, address = 0;
  const SourceWindows* windows = nullptr;
  std::uint64_t first_window = 0;  ///< window of the first group
  OnGpu on_gpu;                    ///< without a GPU: on the host
};

/// Runs Start, the body over all sources, and End on a packed block, of which `live` PEs hold
/// targets; folded: in element 0 only.
void run_packed(const CompiledProgram& program, BlockState& block, std::uint32_t live, bool folded,
                const PackedSources& sources);

}  // namespace gdr::native
