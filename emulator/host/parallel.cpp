// One thread pool per process, and phases of tasks on it.
#include "emulator/host/parallel.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "emulator/host/cpu_relax.hpp"
#include "emulator/host/float_mode.hpp"
#include "emulator/host/host_limits.hpp"
#include "emulator/host/monitor.hpp"
#include "emulator/host/prefetch.hpp"
#include "emulator/host/processor.hpp"
#include "emulator/host/threads.hpp"

namespace gdr {
namespace {

/// A helper polls before it sleeps, since the next call of a simulation often follows soon and
/// waking it takes longer. After about the time of waking it lets other threads run first.
constexpr std::chrono::microseconds polling_time{50}, yielding_time{500};

/// Polls for about the polling time; whether it became ready.
template <typename Ready>
bool poll(const Ready& ready) {
  constexpr unsigned polls = 16;  // between two readings of the clock, which takes about as long
  std::optional<std::chrono::steady_clock::time_point> end;
  for (;;) {
    for (unsigned k = 0; k < polls; ++k) {
      if (ready()) return true;
      cpu_relax();
    }
    const auto now = std::chrono::steady_clock::now();
    if (!end) end = now + polling_time;
    if (now >= *end) return false;
  }
}

thread_local bool inside = false;

/// The work of an offer: slot, phase, task.
using Work = std::function<void(unsigned, std::size_t, std::size_t)>;

/// The tasks of a phase in equal parts. A slot processes its own part first, always the same one
/// for cache locality, then helps the others.
class TaskQueues {
 public:
  TaskQueues() = default;
  TaskQueues(const TaskQueues&) = delete;
  TaskQueues& operator=(const TaskQueues&) = delete;
  void fill(std::size_t tasks, unsigned slots) {
    tasks_ = tasks;
    slots_ = slots;
    if (slots > few_.size()) {
      many_ = std::make_unique<Part[]>(slots);
      parts_ = many_.get();
    }
    for (std::size_t p = 0; p < slots; ++p) parts_[p].next = begin(p);
  }
  /// `waited_for`: whether a thread will call `wait`.
  void run(unsigned slot, std::size_t phase, const Work& work, bool waited_for) {
    std::size_t done = 0;
    for (std::size_t k = 0; k < slots_; ++k) {
      const std::size_t part = (slot + k) % slots_;
      for (;; ++done) {
        const std::size_t task = parts_[part].next.fetch_add(1, std::memory_order_relaxed);
        if (task >= begin(part + 1)) break;
        work(slot, phase, task);
      }
    }
    if (done == 0 || !waited_for) return;
    done_.fetch_add(static_cast<std::uint32_t>(done), std::memory_order_acq_rel);
    done_.notify_all();
  }
  /// Waits for the tasks of other slots.
  void wait() const {
    const auto all = static_cast<std::uint32_t>(tasks_);
    if (poll([&] { return done_.load(std::memory_order_acquire) == all; })) return;
    for (;;) {
      const std::uint32_t done = done_.load(std::memory_order_acquire);
      if (done == all) return;
      done_.wait(done, std::memory_order_acquire);
    }
  }

 private:
  /// Each on a cache line of its own.
  struct alignas(64) Part {
    std::atomic<std::size_t> next = 0;
  };
  std::size_t begin(std::size_t part) const noexcept { return tasks_ * part / slots_; }
  std::size_t tasks_ = 0, slots_ = 0;
  std::array<Part, 4> few_;  ///< calls on few threads are short, and allocate nothing
  std::unique_ptr<Part[]> many_;
  Part* parts_ = few_.data();
  /// Of 32 bits, which the C++ library waits for without a lock.
  alignas(64) std::atomic<std::uint32_t> done_ = 0;
};

/// A range of addresses.
struct Memory {
  std::uintptr_t begin = 0, size = 0;
};

/// Phases of work offered to helpers. Slots are assigned under the pool's lock.
class Offer {
 public:
  Offer(std::span<const Phase> phases, unsigned all, const Work& doing)
      : slots(all), phases_(phases.size()), work_(doing) {
    if (phases_ > few_.size()) {
      many_ = std::make_unique<TaskQueues[]>(phases_);
      queues_ = many_.get();
    }
    for (std::size_t p = 0; p < phases_; ++p) queues_[p].fill(phases[p].tasks, all);
  }
  Offer(const Offer&) = delete;
  Offer& operator=(const Offer&) = delete;

  /// A phase begins when all tasks of the one before it are done.
  void run(unsigned slot) {
    for (std::size_t p = 0; p < phases_; ++p) {
      if (p > 0) queues_[p - 1].wait();
      // The caller of the last phase waits until all helpers have left.
      queues_[p].run(slot, p, work_, p + 1 < phases_);
    }
  }

  /// The part of `rewritten` that the tasks of a slot will write. The caller begins its tasks
  /// later: the first helper takes half of them.
  Memory rewritten_by(unsigned slot) const noexcept {
    const std::uintptr_t part = rewritten.size / slots, more = slot == 1 ? part / 2 : 0;
    return {rewritten.begin + slot * part - more, part + more};
  }

  unsigned next_slot = 1, slots;
  std::atomic<unsigned> helpers = 0;  ///< active helpers
  Memory rewritten;                   ///< memory that the next call writes

 private:
  std::size_t phases_;
  const Work& work_;
  std::array<TaskQueues, 4> few_;
  std::unique_ptr<TaskQueues[]> many_;
  TaskQueues* queues_ = few_.data();
};

class Pool {
 public:
  void share(std::span<const Phase> phases, unsigned helpers, const Work& work, Memory rewritten) {
    Offer offer(phases, helpers + 1, work);
    offer.rewritten = rewritten;
    begin(offer);
    offer.run(0);
    end(offer);
  }

 private:
  void begin(Offer& offer) {
    const unsigned helpers = offer.slots - 1;
    callers_processor_.store(current_processor(), std::memory_order_relaxed);
    {
      const std::scoped_lock lock(mutex_);
      const unsigned wanted = wanted_threads(helpers);
      while (threads_ < wanted && start_thread()) {
      }
      offers_.push_back(&offer);
    }
    // Helpers that poll come at once, so it is set after the lock.
    open_.store(true, std::memory_order_release);
    if (sleepers_.load() > 0) changed_.notify_all();
  }
  void end(Offer& offer) {
    {
      const std::scoped_lock lock(mutex_);
      std::erase(offers_, &offer);
    }
    wait_for_helpers(offer);
  }

  void wait_for_helpers(const Offer& offer) const {
    const auto none_left = [&] { return offer.helpers.load(std::memory_order_acquire) == 0; };
    if (poll(none_left)) return;
    for (;;) {
      const unsigned seen = finished_.load(std::memory_order_acquire);
      if (none_left()) return;
      finished_.wait(seen, std::memory_order_acquire);
    }
  }

  /// Threads for a new call with so many helpers. While other calls are in progress it gets threads
  /// of its own, as far as the cores suffice for all.
  unsigned wanted_threads(unsigned helpers) const {
    if (offers_.empty()) return helpers;
    unsigned callers = 1, all = helpers;
    for (const Offer* const offer : offers_) {
      ++callers;
      all += offer->slots - 1;
    }
    const unsigned cores = usable_threads();
    return std::max(helpers, std::min(all, cores - std::min(cores, callers)));
  }

  /// False if the system refuses a thread; it is asked again after some time.
  bool start_thread() {
    const auto now = std::chrono::steady_clock::now();
    if (refused_ && now - *refused_ < std::chrono::seconds(1)) return false;
    try {
      std::thread([this] { help(); }).detach();
    } catch (const std::system_error&) {
      report_host_limit(HostLimit::Threads);
      refused_ = now;
      return false;
    }
    ++threads_;
    return true;
  }

  void help() {
    inside = true;
    const HostFloatMode mode;  // not that of the caller that happened to start the thread
    auto idle_since = std::chrono::steady_clock::now();
    for (;;) {
      if (Offer* const offer = open_.load(std::memory_order_acquire) ? take() : nullptr) {
        offer->run(slot_);
        const Memory rewritten = offer->rewritten_by(slot_);
        // The offer may be destroyed as soon as no helper is active.
        offer->helpers.fetch_sub(1, std::memory_order_release);
        finished_.fetch_add(1, std::memory_order_release);
        finished_.notify_all();
        prefetch(rewritten);
        idle_since = std::chrono::steady_clock::now();
        continue;
      }
      const auto idle = std::chrono::steady_clock::now() - idle_since;
      if (idle < yielding_time) {
        if (idle < polling_time)
          cpu_relax();
        else
          std::this_thread::yield();
        continue;
      }
      std::unique_lock lock(mutex_);
      ++sleepers_;
      // If it wakes too late for an offer, the next one may follow at once.
      if (!has_free_slot()) changed_.wait(lock);
      --sleepers_;
      lock.unlock();
      // The scheduler often wakes a thread where the one that wakes it computes, and leaves it
      // there.
      leave_processor(callers_processor_.load(std::memory_order_relaxed));
      idle_since = std::chrono::steady_clock::now();
    }
  }

  /// Prefetches memory for writing until there is an offer, unless it is more than a cache holds.
  void prefetch(Memory memory) const {
    constexpr std::uintptr_t line = 64, lines_between_polls = 8, most = 1 << 17;
    if (memory.size > most) return;
    for (std::uintptr_t at = 0; at < memory.size; at += line) {
      if (at % (lines_between_polls * line) == 0 && open_.load(std::memory_order_relaxed)) return;
      prefetch_for_writing(memory.begin + at);
    }
  }

  bool has_free_slot() const {
    return std::ranges::any_of(offers_, [](const Offer* o) { return o->next_slot < o->slots; });
  }

  /// Null also if another thread changes the offers: the caller polls.
  Offer* take() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return nullptr;
    Offer* taken = nullptr;
    for (Offer* const offer : offers_) {
      if (offer->next_slot == offer->slots) continue;
      slot_ = offer->next_slot++;
      offer->helpers.fetch_add(1, std::memory_order_relaxed);
      taken = offer;
      break;
    }
    // Others need not look for a slot, and so do not hold the lock, until there is a new offer.
    if (!has_free_slot()) open_.store(false, std::memory_order_relaxed);
    return taken;
  }

  static thread_local unsigned slot_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Offer*> offers_;
  unsigned threads_ = 0;
  std::optional<std::chrono::steady_clock::time_point> refused_;  ///< last refusal of a thread
  std::atomic<unsigned> sleepers_ = 0;
  std::atomic<int> callers_processor_ = -1;  ///< processor of the last offer's caller
  // Polled, so each has a cache line of its own.
  alignas(64) std::atomic<bool> open_ = false;      ///< whether an offer may have a free slot
  alignas(64) std::atomic<unsigned> finished_ = 0;  ///< counts helpers that left an offer
};

thread_local unsigned Pool::slot_ = 0;

std::atomic<Pool*> the_pool = nullptr;

/// A forked child has none of its parent's threads: it begins with a pool of its own. The parent's
/// is left alone, as a thread may have held its lock.
void begin_child() noexcept {
  the_pool = nullptr;
  inside = false;
}

/// Never destroyed: helpers sleep in it until the process ends.
Pool& pool() {
  static const int registered = pthread_atfork(nullptr, nullptr, begin_child);
  static_cast<void>(registered);
  Pool* current = the_pool.load(std::memory_order_acquire);
  if (current != nullptr) return *current;
  Pool* const made = new Pool;
  if (the_pool.compare_exchange_strong(current, made)) return *made;
  delete made;
  return *current;
}

/// The largest number of tasks of a phase.
std::size_t max_tasks(std::span<const Phase> phases) noexcept {
  std::size_t most = 0;
  for (const Phase& phase : phases) most = std::max(most, phase.tasks);
  return most;
}

/// Some phase has two tasks or more.
void share(std::span<const Phase> phases, unsigned helpers, const Work& work,
           Memory rewritten = {}) {
  const std::size_t useful = std::min<std::size_t>(helpers, max_tasks(phases) - 1);
  inside = true;
  const HostFloatMode mode;  // that of the helpers
  pool().share(phases, static_cast<unsigned>(useful), work, rewritten);
  inside = false;
}

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

void parallel_for(std::size_t tasks, unsigned helpers,
                  const std::function<void(unsigned, std::size_t)>& work) {
  if (helpers == 0 || tasks < 2 || inside) {
    for (std::size_t task = 0; task < tasks; ++task) work(0, task);
    return;
  }
  const Phase phase{tasks, {}};
  share({&phase, 1}, helpers,
        [&](unsigned slot, std::size_t, std::size_t task) { work(slot, task); });
}

void parallel_items(std::size_t items, unsigned threads,
                    const std::function<void(std::size_t)>& work) {
  const unsigned most = usable_threads(threads);
  const std::size_t parts = std::min<std::size_t>(items, std::size_t{4} * most);
  parallel_for(parts, most - 1, [&](unsigned, std::size_t part) {
    const std::size_t end = items * (part + 1) / parts;
    for (std::size_t item = items * part / parts; item < end; ++item) work(item);
  });
}

void run_concurrently(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (count == 0) return;
  std::vector<HostThread> others;
  others.reserve(count - 1);
  std::size_t left = 1;  // the first without a thread
  for (; left < count; ++left) {
    HostThread other = start_thread([&work, left] { work(left); });
    if (!other.joinable()) break;
    others.push_back(std::move(other));
  }
  const HostFloatMode mode;  // that of the threads
  work(0);
  for (; left < count; ++left) work(left);
}

unsigned threads_for(double nanoseconds, unsigned threads, double worthwhile) noexcept {
  if (nanoseconds < 2 * worthwhile || threads == 1) return 1;
  const unsigned most = usable_threads(threads);
  const double worth = nanoseconds / worthwhile;
  return worth < most ? static_cast<unsigned>(worth) : most;
}

MonitoredScope::MonitoredScope(const WorkMonitor& monitor) noexcept
    : before_(std::exchange(current_monitor, &monitor)) {}
MonitoredScope::~MonitoredScope() { current_monitor = before_; }

const WorkMonitor& monitor_of_thread() noexcept {
  static const WorkMonitor none;
  return current_monitor != nullptr ? *current_monitor : none;
}

void cancellation_point() {
  if (current_monitor == nullptr) return;
  if (current_monitor->heartbeat) current_monitor->heartbeat();
  if (current_monitor->stop.stop_requested()) throw Cancelled();
}

void run_phases(std::span<const Phase> phases, unsigned threads,
                std::span<const std::byte> rewritten) {
  if (threads <= 1 || inside || max_tasks(phases) < 2) {
    for (const Phase& phase : phases) {
      for (std::size_t task = 0; task < phase.tasks; ++task) {
        phase.work(task);
        cancellation_point();
      }
    }
    return;
  }
  const WorkMonitor* const monitor = current_monitor;  // the caller's, for all threads
  Guard guard;
  const auto work = [&](unsigned, std::size_t phase, std::size_t task) {
    const WorkMonitor* const before = std::exchange(current_monitor, monitor);
    guard(phases[phase], task);
    current_monitor = before;
  };
  share(phases, threads - 1, work,
        {std::bit_cast<std::uintptr_t>(rewritten.data()), rewritten.size()});
  guard.rethrow();
}

}  // namespace gdr
