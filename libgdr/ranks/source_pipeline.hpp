// Transfer of sources from other ranks in chunks, overlapped with the work of the boards.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/host/stopwatch.hpp"
#include "emulator/host/threads.hpp"
#include "libgdr/device/sources.hpp"
#include "libgdr/ranks/collective.hpp"

namespace gdr {

/// Transfers start in the order in which they were added, which is the same on all ranks, with few
/// in flight, because the first chunk is needed first. Most MPIs progress communication only inside
/// their calls: a progress thread starts and tests the transfers if the MPI allows calls from it;
/// otherwise the caller starts all of them at once. GDR_MPI_OVERLAP=0 disables the overlap for
/// measurements: the boards start when all sources have arrived.
class SourcePipeline {
 public:
  using Start = std::function<std::unique_ptr<RankPending>()>;

  SourcePipeline() = default;
  SourcePipeline(const SourcePipeline&) = delete;
  SourcePipeline& operator=(const SourcePipeline&) = delete;
  ~SourcePipeline() { stop(); }

  /// Adds a transfer: `start` receives `bytes` of these sources, or only sends if the range is
  /// empty.
  void add(IndexRange sources, std::size_t bytes, Start start);
  /// Starts the transfers and waits for the first chunk. `any_thread`: other threads may call the
  /// MPI.
  void begin(bool any_thread);
  /// Waits for all sources of this range.
  void wait_for(IndexRange sources);
  /// Waits for all transfers. Required even if the work of this rank has failed, because other
  /// ranks wait for its data.
  void finish();

  /// Time until all sources had arrived, and the part of it during which the boards waited.
  double seconds() const noexcept { return seconds_; }
  double waiting_seconds() const noexcept { return waiting_; }

 private:
  struct Chunk {
    IndexRange sources;
    Start start;
    std::unique_ptr<RankPending> pending = {};
    bool arrived = false;
  };
  void wait_until(std::size_t end);
  void start_until(std::size_t end);
  bool progress();
  void progress_loop(const std::stop_token& stop);
  void stop() noexcept;

  std::mutex mutex_;  ///< guards all members except the thread
  std::vector<Chunk> chunks_;
  std::size_t bytes_ = 0, started_ = 0;  ///< number of chunks whose transfer has started
  std::exception_ptr error_;             ///< error of the progress thread
  Stopwatch since_;
  double seconds_ = 0, waiting_ = 0;
  HostThread thread_;
};

}  // namespace gdr
