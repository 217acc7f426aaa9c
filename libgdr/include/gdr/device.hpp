// Devices: open one by name, give it a kernel, send targets and sources, run, collect.
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
#include <string>
#include <string_view>
#include <vector>

#include "gdr/kernel.hpp"
#include "gdr/ranks.hpp"
#include "gdr/statistics.hpp"
#include "gdr/timeline.hpp"

namespace gdr {

/// An array of the user's, where it lies: first element, type, and the distance from one element to
/// the next in bytes (so that a member of a structure is an array too). Nothing is copied until the
/// call that sends or fills it.
struct ConstArray {
  const void* data = nullptr;
  HostNumber type = HostNumber::F64;
  std::ptrdiff_t stride = sizeof(double);

  ConstArray() = default;
  ConstArray(const double* p, std::ptrdiff_t stride_bytes = sizeof(double))
      : data(p), type(HostNumber::F64), stride(stride_bytes) {}
  ConstArray(const float* p, std::ptrdiff_t stride_bytes = sizeof(float))
      : data(p), type(HostNumber::F32), stride(stride_bytes) {}
  ConstArray(const std::int64_t* p, std::ptrdiff_t stride_bytes = sizeof(std::int64_t))
      : data(p), type(HostNumber::I64), stride(stride_bytes) {}
  ConstArray(const std::vector<double>& v) : ConstArray(v.data()) {}
};

/// The same for results.
struct MutableArray {
  void* data = nullptr;
  HostNumber type = HostNumber::F64;
  std::ptrdiff_t stride = sizeof(double);

  MutableArray() = default;
  MutableArray(double* p, std::ptrdiff_t stride_bytes = sizeof(double))
      : data(p), type(HostNumber::F64), stride(stride_bytes) {}
  MutableArray(float* p, std::ptrdiff_t stride_bytes = sizeof(float))
      : data(p), type(HostNumber::F32), stride(stride_bytes) {}
  MutableArray(std::int64_t* p, std::ptrdiff_t stride_bytes = sizeof(std::int64_t))
      : data(p), type(HostNumber::I64), stride(stride_bytes) {}
  MutableArray(std::vector<double>& v) : MutableArray(v.data()) {}
};

/// A kernel's variable by name, with the user's array for it.
struct NamedInput {
  std::string_view name;
  ConstArray array;
};
struct NamedResult {
  std::string_view name;
  MutableArray array;
};

/// How the PEs are shared out (see docs/guides/library.md). Auto picks the one with the smaller
/// predicted time from the numbers of targets and sources; results differ in the last bits, as the
/// order of the sum does.
enum class Partition { Auto, TargetsOverBlocks, SourcesOverBlocks };

/// How a device is opened. Every field may also be given in the name: "emulator:engine=vector,
/// isa=avx2,boards=2,threads=1,blocks=4,pes=8,clock=400e6,partition=targets".
struct DeviceOptions {
  std::string engine;  ///< empty: GDR_ENGINE, else "vector" (exact); "native" is fast instead
  std::string isa;     ///< empty: GDR_ISA, else the best of the host
  unsigned boards = 1;
  unsigned threads = 0;  ///< 0: as OpenMP decides
  Partition partition = Partition::Auto;
  double queue_seconds = 30;  ///< of boards elsewhere: how long to wait for one that is taken
  /// And for a sign of life of one that works; 0: as its work asks, from 5 to 60.
  double timeout_seconds = 0;
  bool self_test = true;  ///< of boards elsewhere: a short test when they are opened
  /// Test all boards (Device::test) in the background, so long after the last time; 0: never.
  double check_seconds = 0;
};

/// What a test of a device's boards found.
struct BoardTest {
  std::string board;    ///< which one
  std::string failure;  ///< what went wrong; empty: nothing
  double seconds = 0;   ///< that the test took
};

class Job;

/// An open device. Movable; several may be open. Several threads may use one Device at once: every
/// member but moving and destroying it may be called from any of them. Each Job, MatrixProduct or
/// Gravity belongs to one thread at a time; their runs stand in the device's one queue, and results
/// do not depend on who comes first. Work that was submitted runs in the background.
class Device {
 public:
  /// Open "emulator", "board:NUMBER" or "board:unix:SOCKET" (docs/reference/device-options.md), or
  /// "auto", which takes the best that works; options follow as in
  /// "emulator:boards=2,engine=vector". An empty name means what GDR_DEVICE says, else "emulator".
  /// What the name says counts more than `options`. Throws Error (Usage) for an unknown name,
  /// option or value, with the nearest known one, Error (Unsupported) for an instruction set that
  /// this host lacks, and Error (Device) for a board that does not answer, is taken, or fails its
  /// test.
  static Device open(std::string_view name = {}, const DeviceOptions& options = {});
  /// Open a device "mpi" on the ranks of a communicator, given by its Fortran handle
  /// (MPI_Comm_c2f); `gdr::open_mpi` of <gdr/mpi.hpp> takes it as it is. Collective.
  static Device open_on_ranks(std::int32_t communicator, std::string_view name = "mpi",
                              const DeviceOptions& options = {});
  ~Device();
  Device(Device&&) noexcept;
  Device& operator=(Device&&) noexcept;

  /// A job: a kernel on this device with its parameters, sources and targets. The device must
  /// outlive it. Several jobs may exist; each keeps its own data.
  Job job(const Kernel& kernel);

  /// Targets that all boards hold at once when they are spread over the blocks.
  std::size_t target_slots(const Kernel& kernel) const;
  Statistics statistics() const;
  void reset_statistics();
  /// Ask work that is running on this device, from whatever thread, to stop: some milliseconds'
  /// work of a block later (a tenth of a second in the slower engines) its call throws Error
  /// (Device). Work that waits for its turn stays, and so does everything that the device holds.
  /// May be called from any thread.
  void interrupt() noexcept;
  /// Begin a new record of what is busy when, or (false) forget it and write no more. No work may
  /// be running meanwhile. Of boards elsewhere there is one event a command list.
  void record_timeline(bool on);
  /// What was recorded so far, in the order of the lists; no work may be running meanwhile.
  std::vector<TimelineEvent> timeline() const;
  /// This process among those that share the device, and how many they are: 0 of 1 but for devices
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
  /// Tests every board: memories, arithmetic, reduction network, a product of matrices; `rounds`
  /// times, with other numbers each time. It takes its turn in the queue like a run. A board that
  /// fails is taken out, and its work goes to the others. Throws Error (Device) when none is left.
  /// The option health_check=SECONDS has it done again and again in the background.
  std::vector<BoardTest> test(unsigned rounds = 1);

 private:
  friend class Job;
  friend class Gravity;
  friend class MatrixProduct;
  friend struct SelfTest;
  friend struct DeviceRanks;
  struct Impl;
  std::shared_ptr<struct DeviceCore> core() const;
  static Device over(std::shared_ptr<struct DeviceCore> core, double check_seconds = 0);
  explicit Device(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Work for a device. Any numbers of targets and sources: larger than the memories, not a multiple
/// of anything, or zero (results are then what section Start leaves).
class Job {
 public:
  ~Job();
  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;

  /// Set a `param`. Throws Error (Usage) for an unknown name. Params that were never set are 0.
  void set(std::string_view name, double value);
  /// Give all `jvar`s: one value of each for n sources. Arrays are converted and kept by the
  /// device, so the call may return before they are sent but not before they are read. Throws Error
  /// (Usage) naming a variable that is missing, unknown or of another type, Error (Input) for a NaN
  /// or an infinity in a floating-point array, with name and index.
  void sources(std::size_t n, std::span<const NamedInput> arrays);
  void sources(std::size_t n, std::initializer_list<NamedInput> arrays);
  /// Replace n sources from index `first` on; those before and after stay, and so do the values of
  /// variables that are not named. Only what changed is sent. Errors as above, and Error (Usage)
  /// for a range that ends behind the last source.
  void update_sources(std::size_t first, std::size_t n, std::span<const NamedInput> arrays);
  void update_sources(std::size_t first, std::size_t n, std::initializer_list<NamedInput> arrays);
  /// Give all `ivar`s: one value of each for n targets.
  void targets(std::size_t n, std::span<const NamedInput> arrays);
  void targets(std::size_t n, std::initializer_list<NamedInput> arrays);

  /// Compute, and fill the result arrays: of an `fvar` one value for each target, of an `ovar` one
  /// for each source. What is not named is not fetched. `name[]` stands for all elements name_0,
  /// name_1, ... of an array or a list: its array has a row of them for each target, and its stride
  /// is that from one element to the next. Throws Error (Usage) for a wrong name or type.
  void run(std::span<const NamedResult> results);
  void run(std::initializer_list<NamedResult> results);
  /// The same in the background: the host is free meanwhile. The arrays are filled when `wait` (or
  /// the next call on this job) returns; an error is thrown there.
  void start(std::span<const NamedResult> results);
  void start(std::initializer_list<NamedResult> results);
  bool ready() const;
  void wait();

  std::size_t target_count() const noexcept;
  std::size_t source_count() const noexcept;

 private:
  friend class Device;
  struct Impl;
  explicit Job(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
