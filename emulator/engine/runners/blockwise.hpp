// The default pass runner: one task per block writes targets, runs the loop and reads results. Data
// shared by blocks is converted once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/api/pass_state.hpp"
#include "emulator/engine/matmul/matmul_runner.hpp"
#include "emulator/engine/runners/block_loop.hpp"
#include "emulator/host/parallel.hpp"

namespace gdr {

/// Executes passes block by block, section by section. All arguments outlive the runner.
std::unique_ptr<PassRunner> blockwise_runner(const LoadedProgram& program, const Geometry& geometry,
                                             const Executable& executable);
/// The same for an executable that may read streams of j-items.
std::unique_ptr<PassRunner> blockwise_runner(const LoadedProgram& program, const Geometry& geometry,
                                             const StreamingExecutable& executable);

/// An executable that has to implement `run` only.
class BlockwiseExecutable : public Executable {
 public:
  std::unique_ptr<PassRunner> pass_runner(const LoadedProgram& loaded,
                                          const Geometry& geometry) const override {
    return blockwise_runner(loaded, geometry, *this);
  }
};

class BlockwiseRunner final : public PassRunner {
 public:
  /// `streamed`: the same as `executable` if it accepts streams of j-items; else null.
  BlockwiseRunner(const LoadedProgram& program, const Geometry& geometry,
                  const Executable& executable, const StreamingExecutable* streamed);
  void run(const Pass& pass) override;
  void invalidate_chips() noexcept override { loop_.invalidate_blocks(); }

 private:
  /// A pass with at most one run.
  void run_one(const PassRun* run, std::span<const TargetWrite> writes,
               std::span<const ResultRead> reads);
  void note_outputs();
  ChipState& state(std::size_t chip) const noexcept { return now_->state(chip); }

  std::vector<BlockTask> make_tasks() const;
  std::vector<FillChunk> make_chunks();
  double estimate(std::size_t tasks) const noexcept;
  bool start_batch(std::size_t tasks);
  void add_chunk(const FillChunk& chunk, const std::vector<BlockTask>& tasks,
                 std::vector<Phase>& phases);
  void add_joined_read(const ResultRead& read, std::vector<Phase>& phases);

  /// Whether the run's body is computed as a matrix product.
  bool is_matmul() const noexcept { return products_ && products_->computes(*now_); }

  void work(const FillChunk& chunk, const BlockTask& task);
  void read_results(const BlockTask& task);

  const LoadedProgram& program_;
  const Geometry geometry_;
  const StreamingExecutable* const streamed_;
  const std::unique_ptr<MatmulRunner> products_;  ///< null: the body is no matrix product
  BlockLoop loop_;
  std::optional<PassState> now_;  ///< the current pass
};

}  // namespace gdr
