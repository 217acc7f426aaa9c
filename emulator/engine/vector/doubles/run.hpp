// Running a translated section on a block: import, passes, proof, export.
#pragma once

#include <cstdint>

#include "emulator/engine/engine.hpp"
#include "emulator/engine/vector/doubles/translate.hpp"

namespace gdr {

/// Where a run finds its groups of j-items: shorts in lanes, as in the broadcast memory.
struct SourceLanes {
  const std::uint64_t* first = nullptr;
  std::size_t step = 0;  ///< shorts from a group to the next
};

/// Run a section on doubles, in the machine's floating-point mode (MachineFloatMode). Returns 0 if
/// every lane is proved exact; else bits of DoublesFailure, and the block is as it was, except for
/// words that the section writes without looking at them. A section that writes to the broadcast
/// memory must have its j-items there.
std::uint64_t run_on_doubles(const DoublesSection& section, const DoublesKernels& kernels,
                             BlockState& block, const BlockRun& run, SourceLanes sources);

/// Whether this host raises, and keeps silent about, exceptions as the proof needs it; some
/// emulators and debuggers do not. Tried once for each instruction set.
bool host_flags_hold(const DoublesKernels& kernels);

}  // namespace gdr
