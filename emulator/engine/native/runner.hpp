// Runs a compiled section on one block: state to lanes, code, lanes to state.
#pragma once

#include "emulator/engine/engine.hpp"
#include "emulator/engine/native/program.hpp"

namespace gdr::native {

/// As Executable::run. The float mode must be FloatMode's.
void run_section(const CompiledSection& section, BlockState& block, const BlockRun& run);

/// As Executable::run_whole, for a program that can be run in one go.
void run_whole(const CompiledProgram& program, BlockState& block, const BlockRun& body);

/// As Executable::convert_sources.
bool convert_sources(const CompiledSection& section, const std::uint64_t* shorts,
                     std::size_t groups, std::uint32_t step, std::byte* to) noexcept;

/// PEs of a packed block (packed_plan.hpp) that hold targets; folded: in element 0 only.
struct PackedPes {
  std::uint32_t live = 0;
  bool folded = false;
};

/// Groups of sources that packed targets see between two looks at whether the work shall end: some
/// milliseconds of it. The loop is done in parts of so many.
constexpr std::uint64_t groups_between_looks = 16384;
static_assert(groups_between_looks % SourceWindows::groups == 0);

/// The sources of packed targets.
struct PackedSources {
  const std::byte* groups = nullptr;  ///< as a SourceStream
  std::uint64_t count = 0;
  /// The last group of each part, as it would stand in the broadcast memory, and where it would.
  const std::uint64_t* last_groups = nullptr;
  std::uint32_t group_shorts = 0, address = 0;
  const SourceWindows* windows = nullptr;
  std::uint64_t first_window = 0;  ///< of the first group
};

/// Start, the body over all sources, and End on a packed block.
void run_packed(const CompiledProgram& program, BlockState& block, PackedPes pes,
                const PackedSources& sources);

}  // namespace gdr::native
