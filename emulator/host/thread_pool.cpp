// One pool per process. Helpers poll for work for some microseconds after each task, since the next
// call of a simulation often follows at once, and then sleep.
#include "emulator/host/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace gdr {
namespace {

/// Polling time of a helper before it sleeps, about the time to wake it.
constexpr std::chrono::microseconds looks_for{50};

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

thread_local bool inside = false;

/// The tasks of a call in equal parts. A slot processes its own part first, always the same one for
/// cache locality, then helps the others.
class Deal {
 public:
  Deal(std::size_t tasks, unsigned slots) : tasks_(tasks), parts_(slots) {
    for (std::size_t p = 0; p < slots; ++p) parts_[p].next = begin(p);
  }
  template <typename Work>
  void work_off(unsigned slot, const Work& work) {
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const std::size_t part = (slot + k) % parts_.size();
      for (;;) {
        const std::size_t task = parts_[part].next.fetch_add(1, std::memory_order_relaxed);
        if (task >= begin(part + 1)) break;
        work(slot, task);
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

/// Work offered to helpers. Slots are assigned under the pool's lock.
struct Offer {
  Deal deal;
  const std::function<void(unsigned, std::size_t)>& work;
  unsigned next_slot = 1, slots;
  std::atomic<unsigned> helpers = 0;  ///< active helpers
};

class Pool {
 public:
  void share(std::size_t tasks, unsigned helpers,
             const std::function<void(unsigned, std::size_t)>& work) {
    Offer offer{Deal(tasks, helpers + 1), work, 1, helpers + 1};
    {
      const std::scoped_lock lock(mutex_);
      while (threads_ < helpers) start_thread();
      offers_.push_back(&offer);
      open_.store(true, std::memory_order_release);
    }
    if (sleepers_.load() > 0) changed_.notify_all();
    offer.deal.work_off(0, work);
    {
      const std::scoped_lock lock(mutex_);
      offers_.remove(&offer);
      if (offers_.empty()) open_.store(false, std::memory_order_relaxed);
    }
    wait_for_helpers(offer);
  }

 private:
  void wait_for_helpers(const Offer& offer) const {
    const auto end = std::chrono::steady_clock::now() + looks_for;
    for (;;) {
      const unsigned seen = finished_.load(std::memory_order_acquire);
      if (offer.helpers.load(std::memory_order_acquire) == 0) return;
      if (std::chrono::steady_clock::now() < end)
        pause();
      else
        finished_.wait(seen, std::memory_order_acquire);
    }
  }

  void start_thread() {
    std::thread([this] { help(); }).detach();
    ++threads_;
  }

  void help() {
    inside = true;
    auto idle_since = std::chrono::steady_clock::now();
    for (;;) {
      if (Offer* const offer = open_.load(std::memory_order_acquire) ? take() : nullptr) {
        offer->deal.work_off(slot_, offer->work);
        // The offer may be destroyed as soon as no helper is active.
        offer->helpers.fetch_sub(1, std::memory_order_release);
        finished_.fetch_add(1, std::memory_order_release);
        finished_.notify_all();
        idle_since = std::chrono::steady_clock::now();
        continue;
      }
      if (std::chrono::steady_clock::now() - idle_since < looks_for) {
        pause();
        continue;
      }
      std::unique_lock lock(mutex_);
      ++sleepers_;
      changed_.wait(lock, [this] { return has_free_slot(); });
      --sleepers_;
    }
  }

  bool has_free_slot() const {
    return std::ranges::any_of(offers_, [](const Offer* o) { return o->next_slot < o->slots; });
  }

  Offer* take() {
    const std::scoped_lock lock(mutex_);
    for (Offer* const offer : offers_) {
      if (offer->next_slot == offer->slots) continue;
      slot_ = offer->next_slot++;
      offer->helpers.fetch_add(1, std::memory_order_relaxed);
      return offer;
    }
    return nullptr;
  }

  static thread_local unsigned slot_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Offer*> offers_;
  std::atomic<bool> open_ = false;  ///< there are offers
  std::atomic<unsigned> sleepers_ = 0;
  std::atomic<unsigned> finished_ = 0;  ///< counts helpers that left an offer
  unsigned threads_ = 0;
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

}  // namespace

bool inside_parallel_for() noexcept { return inside; }

void parallel_for(std::size_t tasks, unsigned helpers,
                  const std::function<void(unsigned, std::size_t)>& work) {
  if (helpers == 0 || tasks < 2 || inside) {
    for (std::size_t task = 0; task < tasks; ++task) work(0, task);
    return;
  }
  inside = true;
  pool().share(tasks, static_cast<unsigned>(std::min<std::size_t>(helpers, tasks - 1)), work);
  inside = false;
}

}  // namespace gdr
