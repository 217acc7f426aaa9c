// What stands behind Device and Job: the boards with what they hold, the queue, the counters.
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

/// A board, the list that is being written for it, and what it is known to hold.
struct BoardSlot {
  std::unique_ptr<BoardLink> board;
  CommandList list = {};
  std::vector<std::uint64_t> words = {};  ///< results of the last list
  BoardContents contents = {};
  bool failed = false;       ///< it failed, and gets no more work
  std::string failure = {};  ///< why it failed

  /// Drops the list and all knowledge of the board's contents.
  void invalidate() {
    list = {};
    contents.invalidate();
  }
};

/// An open device. Jobs share it, so that one that outlives its Device finds it closed, not gone.
struct DeviceCore {
  Geometry geometry;  ///< of every board
  std::vector<BoardSlot> boards;
  std::string where = "emulator";  ///< what kind of device it is, and where, for the description
  std::string reason;              ///< why it was chosen, where nobody said; may be empty
  Partition partition = Partition::Auto;
  unsigned threads = 1;  ///< of the host, for arrays; the boards know theirs
  /// The boards work in other processes of this host: threads of ours that wait for the next arrays
  /// would keep them from their cores.
  bool remote_boards = false;
  /// For the arrays of jobs.
  unsigned job_threads() const noexcept { return remote_boards ? 1 : threads; }
  bool preserve_chip_state = false;   ///< someone looks at what runs leave in them beside results
  std::shared_ptr<RankRunner> ranks;  ///< of a device that several processes share; else null
  WorkQueue queue;
  std::atomic<std::uint64_t> jobs{0};  ///< jobs made so far; numbers them from 1

  std::mutex counters;  ///< guards `statistics`
  Statistics statistics;

  /// Boards that have not been lost. Throws Error (Device) if there are none.
  std::vector<BoardSlot*> usable();
  /// Marks a board as failed, after it has thrown BoardLost.
  void fail(BoardSlot& slot, const std::string& why);
  /// Adds to the statistics that the host converted arrays for so long.
  void add_conversion_time(double seconds);
};

/// A part of a run: some of the job's targets on a slice of its sources.
struct JobPart {
  ChipPartition partition{};
  std::size_t slice = 0;  ///< of JobData::slices
  IndexRange targets;
  /// Where the records of the targets' results go; null: into the user's arrays.
  std::uint64_t* records = nullptr;
  bool raw = false;  ///< records of the network's words (read_raw), not of the link's
};

/// The data of a job, as the worker sees it.
struct JobData {
  std::uint64_t number = 0;
  Kernel kernel;
  KernelCost cost;
  LinkGroup targets_group, sources_group, results_group, outputs_group, params_group;
  std::vector<std::uint64_t> params;   ///< two words for each param, zero until set
  std::vector<std::uint64_t> targets;  ///< link words
  std::size_t target_count = 0;
  SourceStore sources;
  std::vector<ResultBinding> results, outputs;
  OutputReduction output_items = {};
  bool fetch_outputs = false;  ///< of the run
  /// Words that arrive, until it is known that they are good.
  std::vector<std::uint64_t> new_targets = {}, new_sources = {};
  std::vector<IndexRange> slices = {};  ///< of a run: consecutive, all sources together
  std::size_t targets_before = 0;       ///< of the whole job, where this is a rank's part of it
  /// Of a run whose sources are still on their way: returns when those of a range have arrived.
  std::function<void(IndexRange)> wait_for_sources = {};
  std::shared_ptr<struct RankWork> rank_work = {};  ///< what this rank computes for all
};

/// The data of a new job for a kernel: no targets, no sources, parameters zero.
JobData job_data(std::uint64_t number, const Kernel& kernel);

/// Batches of targets divided among boards: equal numbers, in as few boards as have any.
std::vector<IndexRange> divide_batches(IndexRange batches, std::size_t boards);

/// Compute a part of a job on all boards of a device: batches of targets, pieces of sources. Throws
/// Cancelled once a stop is requested. What is lost with a board, others do. The time of
/// conversions goes to `account`.
void run_part(DeviceCore& device, JobData& job, const JobPart& part, class StatisticsScope& account,
              const std::stop_token& stop);

/// Run a job in this thread, on all ranks where there are many, and bring the results into the
/// user's arrays. Everything the boards counted goes into the statistics, also when it fails.
void run_job(DeviceCore& device, JobData& job, const std::stop_token& stop);

}  // namespace gdr
