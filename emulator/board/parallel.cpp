#include "emulator/board/parallel.hpp"

#include <omp.h>

#include <atomic>
#include <exception>

namespace gdr {
namespace {

/// Below this a second thread does not pay; measured on two cores with waking threads.
constexpr double worthwhile_nanoseconds = 20'000;

/// Exceptions must not leave a parallel region: the first one is kept, later tasks do nothing.
class Guard {
 public:
  void operator()(const Phase& phase, std::size_t task) noexcept {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      phase.work(task);
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
  if (nanoseconds < worthwhile_nanoseconds) return 1;
  return threads != 0 ? threads : static_cast<unsigned>(omp_get_max_threads());
}

void run_phases(std::span<const Phase> phases, unsigned threads) {
  if (threads <= 1) {
    for (const Phase& phase : phases) {
      for (std::size_t task = 0; task < phase.tasks; ++task) phase.work(task);
    }
    return;
  }
  Guard guard;
#pragma omp parallel num_threads(static_cast <int>(threads))
  for (const Phase& phase : phases) {
#pragma omp for schedule(dynamic)
    for (std::size_t task = 0; task < phase.tasks; ++task) guard(phase, task);
  }
  guard.rethrow();
}

}  // namespace gdr
