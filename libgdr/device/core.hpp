// The implementation of Device and Job: boards with their cached contents, the queue, counters.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "gdr/device.hpp"
#include "libgdr/device/arrays.hpp"
#include "libgdr/device/board_contents.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/device/output_reduction.hpp"
#include "libgdr/device/partition.hpp"
#include "libgdr/device/queue.hpp"
#include "libgdr/device/rank_runner.hpp"
#include "libgdr/device/sources.hpp"
#include "libgdr/driver/board_link.hpp"

namespace gdr {

/// A board with its current command list and its known contents.
struct BoardSlot {
  std::unique_ptr<BoardLink> board;
  CommandList list = {};
  std::vector<std::uint64_t> words = {};  ///< result words of the last list
  BoardContents contents = {};
  bool failed = false;       ///< whether the board has failed
  std::string failure = {};  ///< reason of the failure

  /// Drops the list and all knowledge of the board's contents.
  void invalidate() {
    list = {};
    contents.invalidate();
  }
};

/// An open device. Shared by its jobs: a job that outlives its Device finds it closed.
struct DeviceCore {
  Geometry geometry;  ///< geometry of every board
  std::vector<BoardSlot> boards;
  std::string where = "emulator";  ///< kind and location, for the description
  std::string reason;              ///< reason of an automatic selection; may be empty
  Partition partition = Partition::Auto;
  unsigned threads = 1;  ///< number of host threads for arrays
  /// Whether the boards are emulated by other processes of this host, which need the cores: waiting
  /// threads of this process would compete with them.
  bool remote_boards = false;
  /// Number of threads for the arrays of jobs.
  unsigned job_threads() const noexcept { return remote_boards ? 1 : threads; }
  bool preserve_chip_state = false;   ///< whether runs must leave the complete state in the chips
  std::shared_ptr<RankRunner> ranks;  ///< collective execution on several processes; else null
  WorkQueue queue;
  std::atomic<std::uint64_t> jobs{0};  ///< number of jobs created; jobs count from 1

  std::mutex counters;  ///< guards `statistics`
  Statistics statistics;

  /// Boards that have not failed. Throws Error (Device) if there are none.
  std::vector<BoardSlot*> usable();
  /// Marks a board as failed, after it has thrown BoardFailure.
  void fail(BoardSlot& slot, const std::string& why);
  /// Adds host time spent converting arrays to the statistics, seconds.
  void add_conversion_time(double seconds);
};

/// A part of a run: some of the job's targets on a slice of its sources.
struct JobPart {
  ChipPartition partition{};
  std::size_t slice = 0;  ///< index in JobData::slices
  IndexRange targets;
  /// Destination of the result records; null: the user's arrays.
  std::uint64_t* records = nullptr;
  bool raw = false;  ///< whether records hold network words (read_raw) instead of link words
};

/// The data of a job.
struct JobData {
  std::uint64_t number = 0;
  Kernel kernel;
  KernelCost cost;
  LinkGroup targets_group, sources_group, results_group, outputs_group, params_group;
  std::vector<std::uint64_t> params;   ///< two words for each param, initially zero
  std::vector<std::uint64_t> targets;  ///< link words of the targets
  std::size_t target_count = 0;
  SourceStore sources;
  std::vector<ResultBinding> results, outputs;
  OutputReduction output_items = {};
  bool fetch_outputs = false;  ///< whether the run reads outputs
  /// Words being converted, until all arrays have passed their checks.
  std::vector<std::uint64_t> new_targets = {}, new_sources = {};
  std::vector<IndexRange> slices = {};  ///< slices of the sources of a run, consecutive
  std::size_t targets_before = 0;  ///< number of targets of the whole job before those of this rank
  /// For a run whose sources are in transfer from other ranks: waits until those of a range have
  /// arrived.
  std::function<void(IndexRange)> wait_for_sources = {};
  std::shared_ptr<struct RankWork> rank_work = {};  ///< work of this rank for all ranks
};

/// The data of a new job for a kernel: no targets, no sources, parameters zero.
JobData job_data(std::uint64_t number, const Kernel& kernel);

/// Divides batches of targets evenly over at most so many boards.
std::vector<IndexRange> divide_batches(IndexRange batches, std::size_t boards);

/// Computes a part of a job on all boards of a device. Throws Cancelled after a stop request. Work
/// of a board that fails is reassigned. `scope` gets the time of conversions.
void run_part(DeviceCore& device, JobData& job, const JobPart& part, class StatisticsScope& account,
              const std::stop_token& stop);

/// Runs a job in this thread, collectively if the device has several ranks, and fills the user's
/// arrays. Counters of the boards are added to the statistics, also after an error.
void run_job(DeviceCore& device, JobData& job, const std::stop_token& stop);

}  // namespace gdr
