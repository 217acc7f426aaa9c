// The iterations of a loop that may run without its rare conditions, for the targets at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/native/codegen/code.hpp"

namespace gdr::native {

/// A loop over sources, with its inputs.
struct PlannedLoop {
  const KernelCode& code;
  Target target;
  const WordTable& uniform_words;
  const std::byte* uniforms;          ///< invariant words
  const std::byte* items;             ///< work items: `vectors` for each instance
  std::size_t vectors = 0, live = 0;  ///< `live`: number of targets that fill the vectors
  std::uint64_t iterations = 0;
  const SourceWindows* windows = nullptr;  ///< null: ranges of source words are unknown
  std::uint64_t first_window = 0;          ///< window of the first iteration
};

/// Schedules iterations 1 .. iterations - 2, where iteration p reads group p and, delayed, group p
/// - 1. `hit`: by window, whether a lane may meet the condition in one of its groups.
void plan_loop_runs(std::uint64_t iterations, std::span<const std::uint8_t> hit,
                    std::vector<LoopRun>& runs);

/// Divides runs so that they end where blocks of so many iterations do.
void divide_at_blocks(std::span<const LoopRun> runs, std::uint64_t block,
                      std::vector<LoopRun>& divided);

/// Keeps its buffers from plan to plan.
class LoopPlanner {
 public:
  /// Schedules the iterations for `count` work items from `first` on, which one call processes. The
  /// runs are valid until the next call; null for a loop that is not divided into runs.
  const LoopRun* plan(const PlannedLoop& loop, std::size_t first, std::size_t count);

 private:
  void plan_unguarded(const PlannedLoop& loop, std::size_t first, std::size_t count);
  void gather_compared(const PlannedLoop& loop, std::uint32_t slot, std::size_t first,
                       std::size_t count);
  bool find_hits(const PlannedLoop& loop, LeafKey source);

  std::vector<LoopRun> runs_, divided_;
  std::vector<std::uint8_t> hit_;          ///< whether a window has such a word
  std::vector<std::int64_t> compared_;     ///< lanes of targets
  std::int64_t least_ = 0, greatest_ = 0;  ///< range of the targets' words
};

}  // namespace gdr::native
