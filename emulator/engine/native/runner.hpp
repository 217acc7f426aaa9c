// Runs a compiled section on one block: state to lanes, code, lanes to state.
#pragma once

#include "emulator/engine/engine.hpp"
#include "emulator/engine/native/program.hpp"

namespace gdr::native {

/// As Executable::run. The float mode must be FloatMode's.
void run_section(const CompiledSection& section, const CellMap& map, BlockState& block,
                 const BlockRun& run);

}  // namespace gdr::native
