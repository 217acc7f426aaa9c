#include "emulator/host/parallel.hpp"

#include <omp.h>

#include <atomic>
#include <exception>
#include <utility>
#include <vector>

namespace gdr {
namespace {

/// Below this a second thread does not pay; measured on two cores with waking threads.
constexpr double worthwhile_nanoseconds = 20'000;

thread_local const WorkWatch* watched = nullptr;

/// Exceptions must not leave a parallel region: the first one is kept, later tasks do nothing.
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

/// The tasks of a phase, dealt out in equal parts. A thread takes its own part first, the same one
/// in every run, so that it finds in its cache what it left there; then it helps the others.
class Dealer {
 public:
  Dealer(std::size_t tasks, std::size_t threads) : tasks_(tasks), parts_(threads) {
    for (std::size_t p = 0; p < threads; ++p) parts_[p].next = begin(p);
  }

  template <typename Work>
  void work_off(std::size_t thread, const Work& work) {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const std::size_t part = (thread + k) % parts_.size();
      for (;;) {
        const std::size_t task = parts_[part].next.fetch_add(1, std::memory_order_relaxed);
        if (task >= begin(part + 1)) break;
        work(task);
      }
    }
  }

 private:
  /// A line of the cache each.
  struct alignas(64) Part {
    std::atomic<std::size_t> next = 0;
  };
  std::size_t begin(std::size_t part) const noexcept { return tasks_ * part / parts_.size(); }
  std::size_t tasks_;
  std::vector<Part> parts_;
};

}  // namespace

unsigned threads_for(double nanoseconds, unsigned threads) noexcept {
  if (nanoseconds < worthwhile_nanoseconds) return 1;
  return threads != 0 ? threads : static_cast<unsigned>(omp_get_max_threads());
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
  if (threads <= 1) {
    for (const Phase& phase : phases) {
      for (std::size_t task = 0; task < phase.tasks; ++task) {
        phase.work(task);
        look_up();
      }
    }
    return;
  }
  // What one thread does alone it does before there are others to wait for it.
  while (!phases.empty() && phases.front().tasks <= 1) {
    if (phases.front().tasks == 1) phases.front().work(0);
    phases = phases.subspan(1);
  }
  if (phases.empty()) return;
  Guard guard;
  const WorkWatch* const watch = watched;  // the caller's, for all threads
  std::vector<Dealer> dealers;
  dealers.reserve(phases.size());
  for (const Phase& phase : phases) dealers.emplace_back(phase.tasks, threads);
#pragma omp parallel num_threads(static_cast <int>(threads))
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
    const WorkWatch* const before = std::exchange(watched, watch);
    for (std::size_t p = 0; p < phases.size(); ++p) {
      if (p > 0) {
#pragma omp barrier
      }
      dealers[p].work_off(thread, [&](std::size_t task) { guard(phases[p], task); });
    }
    watched = before;
  }
  guard.rethrow();
}

}  // namespace gdr
