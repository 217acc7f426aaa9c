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
#include "emulator/engine/runners/block_sources.hpp"
#include "emulator/engine/runners/shared_sources.hpp"
#include "emulator/engine/runners/transfers.hpp"
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
  void invalidate_chips() noexcept override;

 private:
  /// Fills of a block's own j-items per conversion.
  static constexpr std::uint64_t fills_at_once = 32;
  /// Interval between cancellation points in a shared stream: some milliseconds of exact numerics.
  static constexpr std::uint64_t groups_between_polls = 4096;
  static constexpr std::uint64_t items_per_task = 2048;  ///< per conversion or reduction task
  static constexpr std::uint64_t items_returned = 8;     ///< per reduction task over chips

  /// The work of one block.
  struct Task : BlockPlace {
    bool runs = false;
    std::size_t number = 0;  ///< index in make_tasks
  };
  /// The fused run of a task in `batch_`.
  struct BatchedRun {
    bool begun = false;
    BlockRun run;
  };
  /// Consecutive fills of the run, limited by the size of the shared buffer.
  struct Chunk {
    std::uint64_t first_fill = 0, fills = 0;
    bool first = true, last = true;
  };

  /// A pass with at most one run.
  void run_one(const PassRun* run, std::span<const TargetWrite> writes,
               std::span<const ResultRead> reads);
  void note_outputs();
  const PassRun& loop() const noexcept { return now_->run(); }
  ChipState& state(std::size_t chip) const noexcept { return now_->state(chip); }
  BoardMemory& memory_of(std::size_t chip) const noexcept { return now_->memory_of(chip); }

  std::vector<Task> make_tasks() const;
  std::vector<Chunk> make_chunks() const;
  double estimate(std::size_t tasks) const noexcept;
  void add_chunk(const Chunk& chunk, const std::vector<Task>& tasks, std::vector<Phase>& phases);
  void add_joined_read(const ResultRead& read, std::vector<Phase>& phases);

  /// Whether the run's body is computed as a matrix product.
  bool is_matmul() const noexcept { return products_ && products_->computes(*now_); }

  bool shares_sources() const noexcept;
  bool joins_outputs() const noexcept;
  bool start_batch(std::size_t tasks);
  void finish_batched(const Chunk& chunk, const Task& task);
  void read_results(const Chunk& chunk, const Task& task);
  bool returns_outputs() const noexcept { return (loop().flags & run_return) != 0; }
  GroupRange groups_of(const Chunk& chunk, GroupRange slice) const noexcept;
  void work(const Chunk& chunk, const Task& task);
  void run_loop(const Chunk& chunk, const Task& task);
  void run_fills(const Chunk& chunk, const Task& task);
  bool accepts_streams() const noexcept;
  void run_stream(const Chunk& chunk, const Task& task);
  void run_fills_at_once(const Chunk& chunk, const Task& task, std::uint64_t begin,
                         std::uint64_t end);
  void run_own_stream(const Chunk& chunk, const Task& task);
  bool runs_fused(const Chunk& chunk, const Task& task) const;
  void run_groups(const Chunk& chunk, const Task& task, GroupRange groups, SourceStream stream);
  std::uint64_t* output_row(const Chunk& chunk, const Task& task, std::uint64_t group);
  void store_last_outputs(const Chunk& chunk, const Task& task, std::uint64_t end);
  std::uint32_t live_pes(const Task& task) const noexcept;
  void run_section(const Task& task, Section section) const;
  void fill_half(const Chunk& chunk, const Task& task, GroupRange groups, unsigned half,
                 std::vector<std::uint64_t>& scratch);
  void keep_outputs(const Chunk& chunk, const Task& task, GroupRange groups, unsigned half,
                    std::vector<std::uint64_t>& scratch);
  void join_chunk_outputs(const Chunk& chunk, std::size_t chip, GroupRange part);

  const LoadedProgram& program_;
  const Geometry geometry_;
  const Executable& executable_;
  const StreamingExecutable* const streamed_;
  const std::unique_ptr<MatmulRunner> products_;  ///< null: the body is no matrix product
  std::optional<PassState> now_;                  ///< the current pass
  std::unique_ptr<FusedBatch> batch_;  ///< fused runs of all blocks together; null: one by one
  std::vector<BatchedRun> batched_;    ///< fused runs by task

  // Buffers are reused: page faults of fresh memory cost more than the work in it.
  SharedSources shared_sources_;
  BlockSources block_sources_;
  std::vector<std::vector<std::uint64_t>>
      outputs_;  ///< output items of each chip: [block][shorts of a chunk]
};

}  // namespace gdr
