#include "emulator/host/parallel.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "emulator/host/thread_pool.hpp"

namespace gdr {
namespace {

thread_local const WorkMonitor* current_monitor = nullptr;

/// Exceptions must not leave a task: the first one is stored, later tasks return immediately.
class Guard {
 public:
  void operator()(const Phase& phase, std::size_t task) noexcept {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      phase.work(task);
      cancellation_point();
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

MonitoredScope::MonitoredScope(const WorkMonitor& monitor) noexcept
    : before_(std::exchange(current_monitor, &monitor)) {}
MonitoredScope::~MonitoredScope() { current_monitor = before_; }

void cancellation_point() {
  if (current_monitor == nullptr) return;
  if (current_monitor->heartbeat) current_monitor->heartbeat();
  if (current_monitor->stop.stop_requested()) throw Cancelled();
}

void run_phases(std::span<const Phase> phases, unsigned threads) {
  if (threads <= 1 || inside_parallel_for()) {
    for (const Phase& phase : phases) {
      for (std::size_t task = 0; task < phase.tasks; ++task) {
        phase.work(task);
        cancellation_point();
      }
    }
    return;
  }
  const WorkMonitor* const monitor = current_monitor;  // the caller's, for all threads
  for (const Phase& phase : phases) {
    Guard guard;
    parallel_for(phase.tasks, threads - 1, [&](unsigned, std::size_t task) {
      const WorkMonitor* const before = std::exchange(current_monitor, monitor);
      guard(phase, task);
      current_monitor = before;
    });
    guard.rethrow();
  }
}

}  // namespace gdr
