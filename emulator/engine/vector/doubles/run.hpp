// Execution of a translated section on a block: import, iterations, verification, export.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "emulator/engine/api/engine.hpp"
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
  /// Verified iterations, whose results are in the block: all; on failure, all but the last ones or
  /// none.
  std::uint64_t iterations = 0;
};

/// Runs a section on doubles, in the machine's floating-point mode (MachineFloatMode). If no
/// iteration is verified, the block is unchanged, except for words that the section writes without
/// reading them; if all but the last ones are, the same holds for words that those write without
/// reading them. A section that writes to the broadcast memory must have its j-items there.
DoublesResult run_on_doubles(const DoublesSection& section, const DoublesKernels& kernels,
                             BlockState& block, const BlockRun& run, SourceLanes sources);

/// The parts of a results-only fused run before and after its iterations, for iterations that are
/// executed elsewhere (loop_device.hpp). `take` gets the frame before the first iteration, `put`
/// has to change it as the iterations do. Both return bits of DoublesFailure; on failure the block
/// is as run_on_doubles leaves it.
std::uint64_t run_before_loop(const DoublesSection& section, const DoublesKernels& kernels,
                              BlockState& block, const BlockRun& run,
                              const std::function<void(const std::byte* frame)>& take);
std::uint64_t run_after_loop(const DoublesSection& section, const DoublesKernels& kernels,
                             BlockState& block, const BlockRun& run,
                             const std::function<void(std::byte* frame)>& put);

/// Repeats a failed run operation by operation and names the first instruction with an inexact
/// result: "body, instruction 12, kernel.gds:40: a number is too large for doubles". The block must
/// be as it was before the run, and is left as a failed run leaves it. Takes a multiple of the
/// run's time.
std::string diagnose(const Program& program, const DoublesSection& section,
                     const DoublesKernels& kernels, BlockState& block, const BlockRun& run,
                     SourceLanes sources);

}  // namespace gdr
