// Commands that are worked off together: targets go in, the loop runs, results come out, block by
// block, in one parallel region. A force call on few sources costs little more than its arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "emulator/board/board_state.hpp"
#include "emulator/board/command.hpp"
#include "emulator/board/loop_plan.hpp"
#include "emulator/board/parallel.hpp"
#include "emulator/board/port_work.hpp"

namespace gdr {

/// Collects checked commands in their order, writes before the run before reads, and executes them
/// on `flush`; adding one that does not fit this order flushes first. Commands that are not kept
/// here need a flush before them.
class Batch {
 public:
  /// Results are stored in `results`, from offsets that the reads name.
  Batch(BoardState& board, std::vector<std::uint64_t>& results)
      : board_(board), results_(results) {}

  void add_write(const Command& command, const std::uint64_t* records);
  /// `result_offset`: where output items go that the run returns.
  void add_run(const Command& command, const LoopPlan& plan, std::size_t result_offset);
  void add_read(const Command& command, std::size_t result_offset);
  void flush();
  /// Before anything that the run must not see, or that must see what it did, in memory.
  void flush_run() {
    if (run_) flush();
  }

 private:
  static constexpr std::uint64_t fills_at_once = 32;   ///< of a block's own j-items, converted
  static constexpr std::uint64_t items_a_part = 2048;  ///< j-items that one task converts or joins
  static constexpr std::uint64_t items_returned = 8;   ///< that one joins over chips

  struct Write {
    std::uint64_t chips;
    TargetSlots slots;
    const std::uint64_t* records;
  };
  struct Read {
    std::uint64_t chips;
    TargetSlots slots;
    std::size_t offset;
    bool joined;  ///< through the network or over chips, once all blocks are done
    bool raw;     ///< as the network has it, not converted; always joined
  };
  struct Run {
    Command command;
    LoopPlan plan;
    std::size_t offset;                  ///< among the results, of output items that are returned
    std::vector<std::uint32_t> blocks;   ///< of each chip: how many of its blocks run
    std::vector<std::uint64_t> targets;  ///< of each chip: slots that count
  };
  /// What one block has to do.
  struct Task {
    std::uint32_t chip, block;
    bool runs;
  };
  /// A stretch of the run's fills, so that what all blocks share fits a buffer.
  struct Pass {
    std::uint64_t first_fill = 0, fills = 0;
    bool first = true, last = true;
  };

  std::vector<Task> make_tasks() const;
  std::vector<Pass> make_passes() const;
  double estimate(std::size_t tasks) const noexcept;
  void add_pass(const Pass& pass, const std::vector<Task>& tasks, std::vector<Phase>& phases);
  void add_staging(const Pass& pass, std::vector<Phase>& phases);
  void add_joined_reads(std::vector<Phase>& phases);
  void add_joined_read(const Read& read, std::vector<Phase>& phases);
  void keep_staged();

  bool sums_products() const noexcept;
  std::uint64_t fills_before_products() const noexcept;
  std::uint64_t items_before_products() const noexcept;
  void begin_products();
  void take_factors(const Task& task);
  void add_products(std::vector<Phase>& phases);
  void sum_products(std::uint64_t first, std::uint64_t count);

  bool shares_sources() const noexcept;
  bool joins_outputs() const noexcept;
  bool returns_outputs() const noexcept { return (run_->command.flags & run_return) != 0; }
  SourceRecords records_of(const Task& task) const noexcept;
  GroupRange groups_of(const Pass& pass, GroupRange slice) const noexcept;
  void stage(const Pass& pass, std::uint32_t chip, std::uint64_t part);
  void work(const Pass& pass, const Task& task);
  void run_loop(const Pass& pass, const Task& task);
  void run_fills(const Pass& pass, const Task& task);
  bool takes_streams() const noexcept;
  void run_stream(const Pass& pass, const Task& task);
  void run_own_stream(const Pass& pass, const Task& task);
  KeptItems items_of(std::uint32_t chip) const;
  bool make_stream(const Task& task, GroupRange groups, std::uint64_t last,
                   KeptStream& stream) const;
  bool runs_whole(const Pass& pass, const Task& task) const;
  void run_groups(const Pass& pass, const Task& task, GroupRange groups, SourceStream stream);
  std::uint64_t* output_row(const Pass& pass, const Task& task, std::uint64_t group);
  void leave_outputs(const Pass& pass, const Task& task, std::uint64_t end);
  std::uint32_t live_pes(const Task& task) const noexcept;
  void run_section(const Task& task, Section section) const;
  void fill_half(const Pass& pass, const Task& task, GroupRange groups, unsigned half,
                 std::vector<std::uint64_t>& scratch);
  void keep_outputs(const Pass& pass, const Task& task, GroupRange groups, unsigned half,
                    std::vector<std::uint64_t>& scratch);
  void join_pass_outputs(const Pass& pass, std::size_t chip, GroupRange part);

  BoardState& board_;
  std::vector<std::uint64_t>& results_;
  std::vector<Write> writes_;
  std::vector<Read> reads_;
  std::optional<Run> run_;
  std::vector<std::uint32_t> product_chips_;  ///< that run, where they sum products
  std::vector<StagedItems*> staged_of_;       ///< of each chip that runs: its j-items of a pass
};

}  // namespace gdr
