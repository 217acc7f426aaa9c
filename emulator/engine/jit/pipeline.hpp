// Software pipelining: an iteration of a loop begins before the previous one has ended.
//
// An iteration is often one long chain of operations, of which a host of four-wide, out-of-order
// execution sees too little ahead: its scheduler is full of operations that wait for the chain,
// before those of the next iteration get there. So each iteration is divided into two stages, and
// the loop executes the second stage of an iteration among the operations of the first stage of the
// next.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "emulator/engine/jit/ir.hpp"

namespace gdr::jit {

/// The order of a pipelined loop's operations.
struct PipelineSchedule {
  Block block;             ///< block of an iteration; some masks may be made several times
  std::vector<bool> late;  ///< whether each operation is in the second stage
  std::vector<std::uint32_t> order;  ///< all operations, those of both stages interleaved
  std::vector<ValueId> crossing;     ///< first-stage values that the second stage reads
};

/// Modulo schedules of a loop's block, whose iterations begin as soon after each other as the two
/// vector units allow (B. R. Rau, "Iterative modulo scheduling", 1994, without backtracking). None
/// if an iteration needs more than two stages, has no long chain, or stores carried values to
/// memory.
std::vector<PipelineSchedule> pipeline_schedules(const Block& block);

/// Code of a loop of n iterations, n > 0: `first`, n - 1 times `loop`, and `last`. Both straight
/// parts find and leave the carried values in their places.
struct PipelinedLoop {
  Block first, loop, last;
};

/// The same operations in the same order for every carried value, so with equal results.
/// `earlier(p)`: the place of memory that one iteration earlier was at p. `place(k)`: memory for
/// crossing value number k before and after the loop.
PipelinedLoop pipelined(const PipelineSchedule& schedule,
                        const std::function<Place(Place)>& earlier,
                        const std::function<Place(std::size_t)>& place);

}  // namespace gdr::jit
