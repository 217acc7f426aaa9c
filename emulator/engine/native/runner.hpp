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

/// Start, the body over `groups` groups of a stream, and End on a packed block.
void run_packed(const CompiledProgram& program, BlockState& block, PackedPes pes,
                const SourceStream& stream, std::uint64_t groups);

}  // namespace gdr::native
