// A run of a program on one block: Start, the loop over j-items, End.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/api/pass_state.hpp"
#include "emulator/engine/runners/block_chunks.hpp"
#include "emulator/engine/runners/block_sources.hpp"
#include "emulator/engine/runners/block_work.hpp"
#include "emulator/engine/runners/fill_loop.hpp"
#include "emulator/engine/runners/joined_outputs.hpp"
#include "emulator/engine/runners/shared_sources.hpp"

namespace gdr {

/// Runs blocks section by section, or all sections in one call of the engine. The loop reads a
/// stream where engine and program allow that, else the halves of the broadcast memory (FillLoop).
/// Several threads may run different blocks.
class BlockLoop {
 public:
  /// `streamed`: the same as `executable` if it accepts streams of j-items; else null.
  BlockLoop(const LoadedProgram& program, const Geometry& geometry, const Executable& executable,
            const StreamingExecutable* streamed);

  SharedSources& shared_sources() noexcept { return shared_; }
  JoinedOutputs& outputs() noexcept { return outputs_; }
  void invalidate_blocks() noexcept { own_.overwritten(); }

  bool accepts_streams(const PassState& pass) const noexcept;
  /// Before the tasks of a chunk, for blocks that read j-items of their own.
  void reserve(const PassState& pass);
  /// Fused runs of the run's blocks together, if the engine has a device for them. False if the run
  /// does not allow it.
  bool start_batch(const PassState& pass, std::size_t tasks);
  FusedBatch* batch() noexcept { return batch_.get(); }
  void end_batch() noexcept { batch_.reset(); }

  /// A task of a chunk.
  void run(const PassState& pass, const FillChunk& chunk, const BlockTask& task);
  /// Whether the body of a task has to be run with those of the others; `finish_batched` is the
  /// rest of it then.
  bool waits_for_batch(const BlockTask& task) const noexcept {
    return batch_ != nullptr && batched_[task.number].begun;
  }
  void finish_batched(const PassState& pass, const BlockTask& task);

 private:
  /// Fills of a block's own j-items per conversion.
  static constexpr std::uint64_t fills_at_once = 32;
  /// Interval between cancellation points in a shared stream: some milliseconds of exact numerics.
  static constexpr std::uint64_t groups_between_polls = 4096;

  /// The fused run of a task in the batch.
  struct BatchedRun {
    bool begun = false;
    BlockRun run;
  };
  bool is_fused(const BlockWork& work) const;
  void run_body(const BlockWork& work);
  void run_stream(const BlockWork& work);
  void run_fills_at_once(const BlockWork& work, std::uint64_t begin, std::uint64_t end);
  void run_own_stream(const BlockWork& work);
  void run_groups(const BlockWork& work, GroupRange groups, const SourceStream& stream);

  const LoadedProgram& program_;
  const Geometry& geometry_;
  const StreamingExecutable* const streamed_;
  SharedSources shared_;
  BlockSources own_;
  JoinedOutputs outputs_;
  FillLoop fills_;
  std::unique_ptr<FusedBatch> batch_;  ///< fused runs of all blocks together; null: one by one
  std::vector<BatchedRun> batched_;    ///< fused runs by task
};

}  // namespace gdr
