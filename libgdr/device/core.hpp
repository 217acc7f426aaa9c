// The implementation of Device and Job: a queue, its boards with their cached contents, counters.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/engine/api/capabilities.hpp"
#include "emulator/host/stopwatch.hpp"
#include "gdr/device.hpp"
#include "gdr/kernel.hpp"
#include "gdr/ranks.hpp"
#include "libgdr/device/arrays.hpp"
#include "libgdr/device/host_spans.hpp"
#include "libgdr/device/image_check.hpp"
#include "libgdr/device/names.hpp"
#include "libgdr/device/partition.hpp"
#include "libgdr/device/progress.hpp"
#include "libgdr/device/queue.hpp"
#include "libgdr/device/reduction.hpp"
#include "libgdr/device/sources.hpp"
#include "libgdr/driver/board_link.hpp"

namespace gdr {

struct DeviceCore;
struct JobData;

/// The part of a matrix that the PEs of a board hold.
struct ResidentTile {
  Revision revision = 0;  ///< revision of the factor; 0: unknown
  std::size_t row = 0, first = 0;
  friend bool operator==(const ResidentTile&, const ResidentTile&) = default;
};

/// Contents of a board as far as they are known. What a command list is about to change is
/// invalidated before the list is executed and recorded afterwards, so that a failure leaves
/// nothing recorded that the board does not hold.
class BoardContents {
 public:
  /// Whether the chips hold this program, also from another Kernel with the same program.
  bool holds(const Kernel& kernel) const {
    return program_ && (&program_->program() == &kernel.program() ||
                        program_->program_object() == kernel.program_object());
  }
  /// Records that a program was loaded, which clears the chips and invalidates the memories.
  void loaded(const Kernel& kernel, unsigned chips) {
    invalidate();
    program_ = kernel;
    filled_blocks_.assign(chips, 0);
  }
  /// Records that targets of a job overwrite the contents of the PEs.
  void overwrite_tile(std::size_t blocks) {
    tile = {};
    std::ranges::fill(filled_blocks_, blocks);
  }
  /// Records that the first `blocks` blocks of a chip hold numbers, and returns how many did.
  std::size_t fill_blocks(std::size_t chip, std::size_t blocks) {
    return std::exchange(filled_blocks_[chip], blocks);
  }
  void invalidate() { *this = {}; }

  SentSources sources = {};
  ResidentTile tile = {};

 private:
  std::optional<Kernel> program_;
  std::vector<std::size_t> filled_blocks_;  ///< number of leading blocks with numbers, by chip
};

/// A board with its current command list and its known contents.
struct BoardSlot {
  std::unique_ptr<BoardLink> board;
  CommandList list = {};
  std::vector<std::uint64_t> words = {};         ///< result words of the last list
  std::vector<std::uint64_t> object_words = {};  ///< buffer for the object of a program
  BoardContents contents = {};
  bool failed = false;       ///< whether the board has failed
  std::string failure = {};  ///< reason of the failure

  /// Loads a program unless the chips hold it. Throws what BoardLink::execute does.
  void load_program(const Kernel& kernel, unsigned chips, const std::stop_token& stop);
  /// Gives up the lists of work that failed or was cancelled, and all knowledge of the board.
  void discard_work() noexcept {
    board->discard_started();
    invalidate();
  }
  /// Drops the list and all knowledge of the board's contents.
  void invalidate() {
    list = {};
    contents.invalidate();
  }
};

/// How a device that several processes share runs its jobs. libgdr/ranks implements it; a device of
/// one process has none.
class RankRunner {
 public:
  virtual ~RankRunner() = default;
  virtual unsigned rank() const noexcept = 0;
  virtual unsigned size() const noexcept = 0;
  /// The message-passing library: "Open MPI v4.1.4".
  virtual std::string library() const = 0;
  /// Whether runs may be started in a background thread.
  virtual bool any_thread() const noexcept = 0;

  /// Runs a job on all ranks; collective. Errors are the same on all of them.
  virtual void run(DeviceCore& device, JobData& job, const std::stop_token& stop) = 0;
  /// The number of a new job among those of this device: the same on all ranks.
  virtual unsigned add_job() = 0;
  /// Runs a step of a member function of Job on all ranks; throws on all if it throws on any, or if
  /// they do not make the same call.
  virtual void collectively(std::string_view member, unsigned job,
                            const std::function<void()>& step) = 0;
  /// The reports of all ranks; collective.
  virtual std::vector<RankReport> reports(DeviceCore& device) = 0;
  /// Device::shrink and Device::retry_on_rank_failure.
  virtual std::vector<unsigned> shrink(DeviceCore& device) = 0;
  virtual void retry_on_rank_failure(DeviceCore& device, const std::function<void()>& work) = 0;
};

/// Sums over all boards since they were opened.
struct BoardTotals {
  explicit BoardTotals(const std::vector<BoardSlot>& boards);
  EngineStats engine;
  LinkTimes link;
};

/// A queue of an open device, with boards of its own; most devices have one. Shared by its jobs: a
/// job that outlives its Device finds it closed.
struct DeviceCore {
  Geometry geometry;    ///< geometry of every board
  Capabilities engine;  ///< capabilities of the engine of every board
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
  /// Whether the time or the results of a program depend on its schedule: on all engines but those
  /// that compile it for the host's numbers.
  bool needs_schedule() const noexcept { return engine.exact(); }
  /// Whether programs run among doubles, those of the kernel language in longs.
  bool computes_in_doubles() const noexcept { return engine.numbers == EngineNumbers::Doubles; }
  /// Whether programs run among floats, where a pipelined loop that carries the bits of numbers
  /// from pass to pass needs doubles.
  bool computes_in_floats() const noexcept { return engine.numbers == EngineNumbers::Floats; }
  bool preserve_chip_state = false;   ///< whether runs must leave the complete state in the chips
  std::shared_ptr<RankRunner> ranks;  ///< collective execution on several processes; else null
  WorkQueue queue;

  /// Of threads of this device, also in members of this class that change nothing else.
  mutable HostSpans spans;
  mutable RunProgress progress;
  std::mutex counters;  ///< guards `statistics`
  Statistics statistics;
  /// Those that the statistics include, or at the first run.
  std::optional<BoardTotals> counted = {};

  /// Boards that have not failed. Throws Error (Device) if there are none.
  std::vector<BoardSlot*> usable();
  /// Marks a board as failed.
  void fail(BoardSlot& slot, const std::string& why);
  /// Calls work(k) for each of some boards: concurrently if they are remote, unless `in_order`,
  /// else until the first error. A board whose work throws BoardFailure is marked as failed.
  /// Returns the numbers of these boards, whose work is to be reassigned, or throws another error
  /// of the work.
  std::vector<std::size_t> run_on_boards(const std::vector<BoardSlot*>& slots, bool in_order,
                                         const std::function<void(std::size_t)>& work);
  /// Adds host time spent converting arrays to the statistics, seconds.
  void add_conversion_time(double seconds);
};

/// Adds counters and times of other runs, but for the wall time (host_seconds).
void add_counters(Statistics& to, const Statistics& from);

/// Adds the counters of all boards to the statistics at the end of its scope, also after an error.
class StatisticsScope {
 public:
  explicit StatisticsScope(DeviceCore& device);
  StatisticsScope(const StatisticsScope&) = delete;
  StatisticsScope& operator=(const StatisticsScope&) = delete;
  ~StatisticsScope();

  /// Marks the run as complete and records its work.
  void complete(std::uint64_t interactions, double flops) noexcept;
  /// Adds host time spent converting results, seconds.
  void add_conversion_time(double seconds) noexcept { conversion_seconds_ += seconds; }

 private:
  DeviceCore& device_;
  std::uint64_t runs_ = 0, interactions_ = 0;
  double flops_ = 0, conversion_seconds_ = 0;
  Stopwatch timer_;
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
  Kernel kernel;
  KernelCost cost;
  LinkGroup targets_group, sources_group, results_group, outputs_group, params_group;
  ImageCheck images;                       ///< cut-offs in periodic boxes, checked before runs
  std::vector<std::uint64_t> params = {};  ///< two words for each param, initially zero
  LinkWords targets = {};                  ///< link words of the targets
  std::size_t target_count = 0;
  SourceStore sources = {};
  std::vector<ResultBinding> results = {}, outputs = {};
  OutputReduction output_items = {};
  bool fetch_outputs = false;  ///< whether the run reads outputs
  /// Words being converted, until all arrays have passed their checks.
  LinkWords new_targets = {}, new_sources = {};
  std::vector<IndexRange> slices = {};  ///< slices of the sources of a run, consecutive
  std::size_t targets_before = 0;  ///< number of targets of the whole job before those of this rank
  /// For a run whose sources are in transfer from other ranks: waits until those of a range have
  /// arrived.
  std::function<void(IndexRange)> wait_for_sources = {};
  std::shared_ptr<struct RankWork> rank_work = {};  ///< work of this rank for all ranks
  bool alone = false;  ///< whether it is a job of this process only, also on a device of many ranks
};

/// The data of a new job for a kernel: no targets, no sources, parameters zero.
JobData job_data(const Kernel& kernel);

/// Some targets of a part of a job on one board, in as many batches as it needs.
class BoardWork {
 public:
  /// Gives up lists that were started.
  virtual ~BoardWork() = default;
  /// Executes or starts the lists of all batches. Target 0 is in the first batch of the whole run.
  virtual void start() = 0;
  /// Takes the results of lists that were started. Returns the host time spent converting results,
  /// seconds.
  virtual double finish() = 0;
};
/// The arguments must live as long as the work.
std::unique_ptr<BoardWork> work_on_board(const DeviceCore& device, BoardSlot& slot, JobData& job,
                                         const JobPart& part, IndexRange targets,
                                         const std::stop_token& stop);
/// Starts and finishes such work; returns what BoardWork::finish does.
double run_on_board(const DeviceCore& device, BoardSlot& slot, JobData& job, const JobPart& part,
                    IndexRange targets, const std::stop_token& stop);

/// Divides batches of targets evenly over at most so many boards.
std::vector<IndexRange> divide_batches(IndexRange batches, std::size_t boards);

/// The partition of a job on this device.
JobPartition partition_of(DeviceCore& device, const JobData& job, std::size_t targets,
                          std::size_t sources);

/// Computes a part of a job on all boards of a device. Throws Cancelled after a stop request. Work
/// of a board that fails is reassigned. `scope` gets the time of conversions.
void run_part(DeviceCore& device, JobData& job, const JobPart& part, StatisticsScope& scope,
              const std::stop_token& stop);

/// Runs a job in this thread, collectively if the device has several ranks, and fills the user's
/// arrays. Counters of the boards are added to the statistics, also after an error.
void run_job(DeviceCore& device, JobData& job, const std::stop_token& stop);

}  // namespace gdr
