// Work for the host's threads: phases one after the other, the tasks of a phase side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "gdr/error.hpp"

namespace gdr {

struct Phase {
  std::size_t tasks = 0;
  std::function<void(std::size_t)> work;  ///< called once for each task number
};

/// Runs all phases in up to `threads` threads, the caller among them (1: on the caller alone). What
/// a task throws ends the rest of the work and is thrown again to the caller.
void run_phases(std::span<const Phase> phases, unsigned threads);

/// Who waits for work: is told that it goes on, and may want it to end. Called by several threads.
struct WorkWatch {
  std::function<void()> beat;  ///< work was done; may be empty
  std::function<bool()> stop;  ///< whether it shall end; may be empty
};

/// Work that was stopped half-way, because its watch wanted it. What it was working on is spoiled.
class WorkStopped : public Error {
 public:
  WorkStopped() : Error(ErrorCategory::Device, "the work was abandoned before it was done") {}
};

/// As long as it lives, `watch` sees what run_phases does for this thread.
class WatchedWork {
 public:
  explicit WatchedWork(const WorkWatch& watch) noexcept;
  WatchedWork(const WatchedWork&) = delete;
  WatchedWork& operator=(const WatchedWork&) = delete;
  ~WatchedWork();

 private:
  const WorkWatch* before_;
};

/// Tells this thread's watch, if there is one, that work goes on; throws WorkStopped where it shall
/// not. Done after every task; a task of more than some milliseconds does it on its way.
void look_up();

/// Less work than this is not worth another thread, even one that looks for work already.
constexpr double worthwhile_nanoseconds = 17'000;

/// The number of threads for work of this many host nanoseconds: each gets as much as is worth it.
/// `threads` is what the user asked for, 0 for OpenMP's choice.
unsigned threads_for(double nanoseconds, unsigned threads) noexcept;

}  // namespace gdr
