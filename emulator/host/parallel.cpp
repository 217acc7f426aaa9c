#include "emulator/host/parallel.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "emulator/host/thread_pool.hpp"

namespace gdr {
namespace {

thread_local const WorkWatch* watched = nullptr;

/// Exceptions must not leave a task: the first one is kept, later tasks do nothing.
class Guard {
 public:
  void operator()(const Phase& phase, std::size_t task) noexcept {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      phase.work(task);
      look_up();
    } catch (...) {
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;
};

}  // namespace

unsigned threads_for(double nanoseconds, unsigned threads) noexcept {
  if (nanoseconds < 2 * worthwhile_nanoseconds || threads == 1) return 1;
  const unsigned most = threads != 0 ? threads : static_cast<unsigned>(omp_get_max_threads());
  const double worth = nanoseconds / worthwhile_nanoseconds;
  return worth < most ? static_cast<unsigned>(worth) : most;
}

WatchedWork::WatchedWork(const WorkWatch& watch) noexcept
    : before_(std::exchange(watched, &watch)) {}
WatchedWork::~WatchedWork() { watched = before_; }

void look_up() {
  if (watched == nullptr) return;
  if (watched->beat) watched->beat();
  if (watched->stop && watched->stop()) throw WorkStopped();
}

void run_phases(std::span<const Phase> phases, unsigned threads) {
  if (threads <= 1 || inside_shared_task()) {
    for (const Phase& phase : phases) {
      for (std::size_t task = 0; task < phase.tasks; ++task) {
        phase.work(task);
        look_up();
      }
    }
    return;
  }
  const WorkWatch* const watch = watched;  // the caller's, for all threads
  for (const Phase& phase : phases) {
    Guard guard;
    share_tasks(phase.tasks, threads - 1, [&](unsigned, std::size_t task) {
      const WorkWatch* const before = std::exchange(watched, watch);
      guard(phase, task);
      watched = before;
    });
    guard.rethrow();
  }
}

}  // namespace gdr
