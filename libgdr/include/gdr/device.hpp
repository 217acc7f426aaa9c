// Devices: open by name, create a job from a kernel, set sources and targets, run.
//
//   gdr::Device device = gdr::Device::open("emulator");
//   gdr::Job job = device.job(gdr::Kernel::builtin("gravity"));
//   job.set("eps2", 1e-4);
//   job.sources(n, {{"xj", x}, {"yj", y}, {"zj", z}, {"mj", m}});
//   job.targets(n, {{"xi", x}, {"yi", y}, {"zi", z}});
//   job.run({{"ax", ax}, {"ay", ay}, {"az", az}, {"pot", pot}});
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gdr/array.hpp"
#include "gdr/kernel.hpp"
#include "gdr/ranks.hpp"
#include "gdr/statistics.hpp"
#include "gdr/timeline.hpp"

namespace gdr {

/// A variable of a kernel by name, with its input array.
struct NamedInput {
  std::string_view name;
  ConstArray array;
};
/// A result or output of a kernel by name, with the array to fill.
struct NamedResult {
  std::string_view name;
  MutableArray array;
};

/// Partition of the work over the broadcast blocks (see docs/guides/library.md): i-parallel or
/// j-parallel. Auto selects the one with the smaller predicted time for the numbers of targets and
/// sources. Results of the two differ in the last bits, as the order of the sums differs.
enum class Partition { Auto, TargetsOverBlocks, SourcesOverBlocks };

/// Options of a device. Every field can also be set in the name: "emulator:engine=vector,
/// isa=avx2,boards=2,threads=1,blocks=4,pes=8,clock=400e6,partition=targets".
struct DeviceOptions {
  std::string engine;  ///< name of the engine, or "exact"; empty: GDR_ENGINE, else the next one
  std::string default_engine;  ///< engine of an emulated board if none is named; empty: "native"
  std::string isa;  ///< instruction set of the engine; empty: GDR_ISA, else the best of the host
  unsigned boards = 1;   ///< number of boards
  unsigned queues = 1;   ///< number of queues; more than one: emulated boards only
  unsigned threads = 0;  ///< number of host threads; 0: chosen by OpenMP
  Partition partition = Partition::Auto;
  double queue_timeout = 30;   ///< longest wait for a remote board that is in use, seconds
  double timeout_seconds = 0;  ///< heartbeat timeout of remote boards; 0: 5 to 60, by the work
  bool self_test = true;       ///< whether remote boards are tested when they are opened
  double health_check_interval = 0;  ///< seconds between background tests of all boards; 0: none
};

/// Result of testing a board.
struct BoardTest {
  std::string board;    ///< name of the board
  std::string failure;  ///< description of the failure; empty: the board passed
  double seconds = 0;   ///< duration of the test
};

/// A TCP stream to a board of another host, since the board was opened.
struct StreamStatistics {
  std::string board;                        ///< name of the board
  unsigned stream = 0;                      ///< number of the stream, from 0
  std::uint64_t bytes_sent = 0;             ///< bytes to the board, with headers and repetitions
  std::uint64_t bytes_received = 0;         ///< bytes from the board
  std::uint64_t connections = 0;            ///< connections: more than one if some broke
  std::uint64_t repeated_frames = 0;        ///< frames sent again after a connection broke
  std::uint64_t retransmitted_packets = 0;  ///< packets that TCP repeated on the current connection
  double round_trip_seconds = 0;            ///< measured by TCP; 0: not connected
  double delivery_rate = 0;                 ///< measured by TCP, bits per second; 0: unknown
  double pacing_rate = 0;                   ///< limit of the rate, bits per second; 0: none
};

/// How far the sums of a run are.
struct DeviceProgress {
  double share = 0;         ///< share that is done, 0 to 1; 0 if nothing runs, and on ranks
  double pairs = 0;         ///< pairs of a target and a source in these sums
  std::uint64_t begun = 0;  ///< number of runs that have begun since the device was opened
};

class Job;

/// An open device. Movable; several may be open. Several threads may use one Device at once: every
/// member function except moving and destruction is thread-safe. A Job, MatrixProduct or Gravity
/// must be used by one thread at a time. All runs go through the device's queue, or one of its
/// queues (option queues=N): a new Job, SetJob or MatrixProduct gets the next one in turn and keeps
/// it. Runs of a queue follow one another, those of different queues overlap; results depend
/// neither on the queue nor on the order. Submitted work runs in the background.
class Device {
 public:
  /// Open "emulator", "board:NUMBER" or "board:unix:SOCKET" (docs/reference/device-options.md), or
  /// "auto", which selects the best available one; options follow as in
  /// "emulator:boards=2,engine=vector". "native" and "exact" are an emulator with this engine:
  /// doubles at the speed of this CPU, which is the default, or the bits of the emulated machine.
  /// An empty name means the value of GDR_DEVICE, else
  /// "emulator". Options in the name override `options`. Throws Error (Usage) for an unknown name,
  /// option or value, with the nearest known one, Error (Unsupported) for an instruction set that
  /// this host lacks, and Error (Device) for a board that does not answer, is in use, or fails its
  /// test.
  static Device open(std::string_view name = {}, const DeviceOptions& options = {});
  /// Open a device "mpi" on the ranks of a communicator, given by its Fortran handle
  /// (MPI_Comm_c2f); `gdr::open_mpi` of <gdr/mpi.hpp> takes an MPI_Comm. Collective.
  static Device open_on_ranks(std::int32_t communicator, std::string_view name = "mpi",
                              const DeviceOptions& options = {});
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;

  /// Create a job: a kernel on this device with its parameters, sources and targets. The device
  /// must outlive it. Several jobs may exist, each with data of its own.
  Job job(const Kernel& kernel);

  /// Whether jobs need the scheduled program of a kernel: on all engines but "native" and those
  /// among floats, whose speed does not depend on the schedule.
  bool needs_schedule() const;
  /// The kernel with the program that jobs of this device execute: Kernel::scheduled or, on engines
  /// that need no schedule, Kernel::unscheduled; "native" executes a kernel that has a schedule
  /// with it. Jobs of other kernels do the same when they are created.
  Kernel prepare(const Kernel& kernel, const std::stop_token& stop = {},
                 const std::function<void(double)>& progress = {}) const;

  /// Targets that all boards of a queue hold at once with Partition::TargetsOverBlocks.
  std::size_t target_slots(const Kernel& kernel) const;
  /// Counters since the device was opened or the last reset, summed over the queues.
  Statistics statistics() const;
  void reset_statistics();
  /// Cancel the work that is running on this device, in all queues. Its call throws Error (Device)
  /// within some milliseconds, a tenth of a second in the slower engines. Queued work and all data
  /// of the device are preserved. Thread-safe.
  void interrupt() noexcept;
  /// How far the running sums are, for a progress bar: the share grows with every batch of targets
  /// or set of interactions. It is that of the queue that is nearest to its end. Thread-safe.
  DeviceProgress progress() const noexcept;
  /// Start a new timeline, or (false) discard it and stop recording. No work may be running. Remote
  /// boards record one event for each command list.
  void record_timeline(bool on);
  /// The events recorded so far, by board in the order of the command lists. Boards of the second
  /// queue are numbered after those of the first, and so on. No work may be running.
  std::vector<TimelineEvent> timeline() const;
  /// The streams to boards of other hosts, by board; none for other boards. May be called while
  /// work is running.
  std::vector<StreamStatistics> streams() const;
  /// The time now on the measured clock of the timeline, for events of the program's own; 0 if
  /// nothing is recorded.
  double timeline_seconds() const;
  /// Rank of this process, and number of processes that share the device: 0 of 1 except for devices
  /// of kind "mpi", on which all calls are collective (docs/guides/mpi.md).
  unsigned rank() const noexcept;
  unsigned ranks() const noexcept;
  /// Work and memory of every rank; collective. Empty unless the device is of kind "mpi".
  std::vector<RankReport> rank_reports();
  /// After RankFailure: shrinks the device to the remaining ranks, renumbered in their order.
  /// Collective among them. Submitted work has ended on return; jobs keep this rank's sources and
  /// targets, and their next run uses those of the remaining ranks. DistributedMatrices must be
  /// created again. Returns the failed ranks by their numbers when the device was opened. Throws
  /// Error (Unsupported) if the MPI does not support it, and Error (Device) if no rank has failed.
  std::vector<unsigned> shrink();
  /// Calls `work`, and after a rank failure shrink() and `work` again, until an attempt succeeds on
  /// all remaining ranks. Collective. `work` must read rank() and ranks() in every attempt and must
  /// not change the inputs of the next attempt. If the MPI does not support rank failures, `work`
  /// is called once.
  void retry_on_rank_failure(const std::function<void()>& work);
  /// One line: "emulator: 1 board of 4 chips, vector engine, avx512".
  std::string description() const;
  /// Test every board `rounds` times with different data: memories, arithmetic, reduction network,
  /// a matrix product. The test goes through the queue like a run. A board that fails is removed
  /// and its work reassigned to the others. Throws Error (Device) if none is left. The option
  /// health_check=SECONDS repeats the test in the background.
  std::vector<BoardTest> test(unsigned rounds = 1);

 private:
  friend class Job;
  friend class Gravity;
  friend class SetJob;
  friend class MatrixProduct;
  friend struct SelfTest;
  friend struct DeviceRanks;
  struct Impl;
  /// The first queue, for the properties that all queues share.
  std::shared_ptr<struct DeviceCore> core() const;
  /// The queue of a new owner of work: each in turn.
  std::shared_ptr<struct DeviceCore> next_queue();
  static Device over(std::vector<std::shared_ptr<struct DeviceCore>> queues,
                     double health_check_interval = 0);
  explicit Device(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A kernel with its parameters, sources and targets. Numbers of targets and sources are arbitrary:
/// they may exceed the memories or be zero (without sources, results are those of section Start).
class Job {
 public:
  ~Job();
  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;

  /// Set a `param`. Throws Error (Usage) for an unknown name. The initial value is 0.
  void set(std::string_view name, double value) { set(name, {&value, 1}); }
  /// Set all elements of an array of `param`s, such as the components of a vector. Throws Error
  /// (Usage) for another number of values.
  void set(std::string_view name, std::span<const double> values);
  void set(std::string_view name, std::initializer_list<double> values) {
    set(name, std::span(values.begin(), values.size()));
  }
  /// Set all `jvar`s of n sources. The arrays are converted and copied before the call returns; the
  /// copy is sent by the next run. The name of an array, vector or tensor of the kernel stands for
  /// all its elements: its array has them for each source, one after the other (n x 3 numbers for a
  /// vector); a stride is that between elements, an item stride that between sources. A
  /// variable with a default value may be left out, as the ids of sources, which then are -2
  /// (KernelVariable::default_value). Throws Error (Usage) naming a variable that is missing,
  /// unknown, of another type or has fewer values, Error (Input) for a NaN or an infinity in a
  /// floating-point array, with name and index.
  void sources(std::size_t n, std::span<const NamedInput> arrays);
  void sources(std::size_t n, std::initializer_list<NamedInput> arrays) {
    sources(n, std::span(arrays.begin(), arrays.size()));
  }
  /// Replace n sources from index `first` on; the other sources and the variables without an array
  /// keep their values. Only the range is sent. Errors as above, and Error (Usage) for a range that
  /// exceeds the sources.
  void update_sources(std::size_t first, std::size_t n, std::span<const NamedInput> arrays);
  void update_sources(std::size_t first, std::size_t n, std::initializer_list<NamedInput> arrays) {
    update_sources(first, n, std::span(arrays.begin(), arrays.size()));
  }
  /// Replace the sources with the given indices: source places[k] gets element k of the arrays, as
  /// programs with individual time steps need it. An index that is given twice gets the last
  /// values. Errors as above.
  void update_sources(std::span<const std::int32_t> places, std::span<const NamedInput> arrays);
  void update_sources(std::span<const std::int32_t> places,
                      std::initializer_list<NamedInput> arrays) {
    update_sources(places, std::span(arrays.begin(), arrays.size()));
  }
  /// Set all `ivar`s of n targets. Those with a default value may be left out, as the ids of
  /// targets, which then are -1.
  void targets(std::size_t n, std::span<const NamedInput> arrays);
  void targets(std::size_t n, std::initializer_list<NamedInput> arrays) {
    targets(n, std::span(arrays.begin(), arrays.size()));
  }

  /// Compute, and fill the result arrays: an `fvar` has one value for each target, an `ovar` one
  /// for each source. Variables that are not named are not fetched. The name of an array, vector
  /// or tensor, or `name[]`, as for the entries of a list, means all elements name_0, name_1, ...:
  /// its array has a row of them for each target; a stride is that between elements, an item stride
  /// that between rows. Throws Error (Usage) for a wrong name or type, and for an array that is
  /// shorter than the number of targets needs.
  void run(std::span<const NamedResult> results);
  void run(std::initializer_list<NamedResult> results) {
    run(std::span(results.begin(), results.size()));
  }
  /// Compute in the background. The arrays are filled when `wait` (or the next call on this job)
  /// returns; errors are thrown there.
  void start(std::span<const NamedResult> results);
  void start(std::initializer_list<NamedResult> results) {
    start(std::span(results.begin(), results.size()));
  }
  bool ready() const;
  void wait();

  std::size_t target_count() const noexcept;
  std::size_t source_count() const noexcept;

 private:
  friend class Device;
  friend class MovingSources;
  struct Impl;
  /// `sources`, of arrays whose elements first .. first + n - 1 are complete after fill(first, n).
  /// Several threads call it, for disjoint ranges, just before they convert these.
  void fill_sources(std::size_t n, std::span<const NamedInput> arrays,
                    const std::function<void(std::size_t first, std::size_t n)>& fill);
  explicit Job(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
