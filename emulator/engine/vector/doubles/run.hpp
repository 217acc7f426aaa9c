// Execution of a translated section on a block: import, passes, verification, export.
#pragma once

#include <cstdint>

#include "emulator/engine/engine.hpp"
#include "emulator/engine/vector/doubles/translate.hpp"

namespace gdr {

/// Location of a run's groups of j-items: shorts in lanes, as in the broadcast memory.
struct SourceLanes {
  const std::uint64_t* first = nullptr;
  std::size_t step = 0;  ///< shorts from a group to the next
};

/// Outcome of a run on doubles.
struct DoublesResult {
  std::uint64_t failure = 0;  ///< bits of DoublesFailure; 0: every lane is exact
  /// Passes that are proved and left in the block: all, or with a failure all but the last ones, or
  /// none.
  std::uint64_t passes = 0;
};

/// Run a section on doubles, in the machine's floating-point mode (MachineFloatMode). If no pass is
/// proved, the block is as it was, except for words that the section writes without looking at
/// them; if all but the last ones are, that holds for words that those write without looking.
/// A section that writes to the broadcast memory must have its j-items there.
DoublesResult run_on_doubles(const DoublesSection& section, const DoublesKernels& kernels,
                             BlockState& block, const BlockRun& run, SourceLanes sources);

/// Whether this host raises and suppresses exception flags as verification needs; some emulators
/// and debuggers do not. Tested once for each instruction set.
bool exception_flags_work(const DoublesKernels& kernels);

/// The kernels for rows of a multiple of `batch` lanes, if the host has them and its flags work;
/// else null.
const DoublesKernels* verified_doubles_kernels(Isa isa, std::uint32_t batch = wide_batch);

}  // namespace gdr
