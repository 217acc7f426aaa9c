// The part of a run that one block executes between two transfers.
#pragma once

#include "emulator/engine/api/pass_state.hpp"
#include "emulator/engine/runners/block_chunks.hpp"

namespace gdr {

/// A task of a chunk in a pass.
struct BlockWork {
  const PassState& pass;
  const FillChunk& chunk;
  const BlockTask& task;
  const LoopPlan& plan() const noexcept { return pass.run().plan; }
  GroupRange slice() const noexcept { return plan().slice(task.block); }
  BlockState& block() const noexcept { return pass.state(task.chip).blocks[task.block]; }
};

/// Whether all blocks of a chip read the same j-items in a run.
inline bool shares_sources(const LoadedProgram& program, const PassState& pass) noexcept {
  const LoopPlan& plan = pass.run().plan;
  return plan.slices == 1 && plan.parts == 1 && !program.sources.empty();
}

}  // namespace gdr
