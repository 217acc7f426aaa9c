// Parallel work on a pool of host threads: phases in sequence, the tasks of a phase concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>

#include "gdr/error.hpp"

namespace gdr {

/// Calls work(slot, task) for all tasks, in the caller and up to `helpers` threads of the process's
/// pool. Slots 0 (the caller) to `helpers` are given to at most one thread each. Returns when all
/// calls have; `work` must not throw. The caller waits only for helpers that have begun: if their
/// cores are busy, it does all the work. Nested calls run on the calling thread.
void parallel_for(std::size_t tasks, unsigned helpers,
                  const std::function<void(unsigned slot, std::size_t task)>& work);

/// Calls work(item) for all items, in up to `threads` threads (0: OpenMP's choice), each some
/// consecutive ones at a time. As in all functions here, threads that the system refuses are
/// missing without an error: the others do their work.
void parallel_items(std::size_t items, unsigned threads,
                    const std::function<void(std::size_t item)>& work);

/// Calls work(k) for k below `count`, each in a thread of its own, the first in the caller: for
/// work that waits. The caller makes those calls afterwards for which there is no thread. Returns
/// when all have; `work` must not throw.
void run_concurrently(std::size_t count, const std::function<void(std::size_t k)>& work);

struct Phase {
  std::size_t tasks = 0;
  std::function<void(std::size_t)> work;  ///< called once for each task number
};

/// Runs all phases in up to `threads` threads, the caller among them (1: on the caller alone). An
/// exception of a task cancels the remaining work and is rethrown to the caller. `rewritten`:
/// memory that these threads have read, and that the first phase of the next call will write, each
/// thread a part in the order of the tasks. Helpers prefetch it for that while they are idle.
void run_phases(std::span<const Phase> phases, unsigned threads,
                std::span<const std::byte> rewritten = {});

/// Cancellation and progress of long work, given by its caller.
struct WorkMonitor {
  std::stop_token stop = {};             ///< cancels the work
  std::function<void()> heartbeat = {};  ///< reports progress; called by several threads
};

/// Thrown by work that was cancelled. The state that it was changing is undefined afterwards.
class Cancelled : public Error {
 public:
  Cancelled() : Error(ErrorCategory::Device, "the work was cancelled before it was done") {}
};

/// During its lifetime `monitor` applies to the work of this thread and of run_phases called by it.
class MonitoredScope {
 public:
  explicit MonitoredScope(const WorkMonitor& monitor) noexcept;
  MonitoredScope(const MonitoredScope&) = delete;
  MonitoredScope& operator=(const MonitoredScope&) = delete;
  ~MonitoredScope();

 private:
  const WorkMonitor* before_;
};

/// Calls the heartbeat of this thread's monitor, if there is one, then throws Cancelled if a stop
/// was requested. run_phases calls it after every task; a task of more than some milliseconds calls
/// it at intervals.
void cancellation_point();

/// Minimum work per additional thread, even if that thread is already polling for work.
constexpr double worthwhile_nanoseconds = 17'000;

/// The number of threads for work of this many host nanoseconds: each gets at least the worthwhile
/// amount. `threads` is the user's limit, 0 for OpenMP's choice.
unsigned threads_for(double nanoseconds, unsigned threads,
                     double worthwhile = worthwhile_nanoseconds) noexcept;

}  // namespace gdr
