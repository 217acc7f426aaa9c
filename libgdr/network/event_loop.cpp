#include "libgdr/network/event_loop.hpp"

#include <chrono>
#include <utility>

namespace gdr::network {
namespace {

/// The loop's own thread takes over after one to two of these without a turn of another thread.
constexpr std::chrono::milliseconds takeover_interval{1};

}  // namespace

/// Runs the handlers of at least one event, unless the io_context is stopped or has no work.
void EventLoop::run_some() {
  if (polling_.begin()) do {
      if (io_.poll_one() > 0) return;
    } while (polling_.goes_on() && !io_.stopped());
  io_.run_one();
}

/// Passes the turn to a thread that waits for it. The caller holds the mutex and has the turn.
void EventLoop::release_turn() {
  taken_ = own_has_turn_ = false;
  asked_ = false;
  if (io_.stopped()) {
    for (Waiter* const w : followers_) w->woken_.notify_one();
    own_sleeps_ = false;
    own_.notify_one();
    return;
  }
  if (!followers_.empty()) {
    Waiter* const next = followers_.front();
    followers_.pop_front();
    taken_ = next->has_turn_ = true;
    next->woken_.notify_one();
  } else if (std::exchange(own_sleeps_, false)) {
    own_.notify_one();
  }
}

/// Passes an exception of a handler to the loop's own thread, which ends with it.
void EventLoop::fail() noexcept {
  const std::scoped_lock lock(mutex_);
  failure_ = std::current_exception();
  io_.stop();
  release_turn();
}

void EventLoop::run() {
  std::unique_lock lock(mutex_);
  for (std::uint64_t seen = turns_; !io_.stopped();) {
    if (taken_) {
      own_sleeps_ = true;
      own_.wait(lock, [&] { return !own_sleeps_ || io_.stopped(); });
    }
    if (!needed_ && seen != turns_) {
      seen = turns_;
      own_.wait_for(lock, takeover_interval, [&] { return needed_ || io_.stopped(); });
      continue;
    }
    if (taken_) continue;
    taken_ = own_has_turn_ = true;
    needed_ = false;
    lock.unlock();
    while (!asked_ && !io_.stopped()) run_some();
    lock.lock();
    release_turn();
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void EventLoop::wait(Waiter& waiter, const std::function<bool()>& done) {
  std::unique_lock lock(mutex_, std::defer_lock);
  while (!done() && !io_.stopped()) {
    lock.lock();
    if (!taken_) {
      taken_ = waiter.has_turn_ = true;
    } else {
      followers_.push_back(&waiter);
      if (own_has_turn_ && !asked_.exchange(true)) asio::post(io_, [] {});
      waiter.woken_.wait(lock,
                         [&] { return waiter.has_turn_ || waiter.signalled_ || io_.stopped(); });
      if (!waiter.has_turn_) std::erase(followers_, &waiter);
    }
    waiter.signalled_ = false;
    if (waiter.has_turn_) {
      waiter.thread_ = std::this_thread::get_id();
      lock.unlock();
      try {
        while (!done() && !io_.stopped()) run_some();
      } catch (...) {
        waiter.has_turn_ = false;
        return fail();
      }
      lock.lock();
      ++turns_;
      waiter.has_turn_ = false;
      release_turn();
    }
    lock.unlock();
  }
}

void EventLoop::signal(Waiter& waiter) {
  const std::scoped_lock lock(mutex_);
  waiter.signalled_ = true;
  waiter.woken_.notify_one();
  // A thread that runs the loop tests its condition after each event; in a handler this is that
  // thread itself.
  if (waiter.has_turn_ && waiter.thread_ != std::this_thread::get_id()) asio::post(io_, [] {});
}

void EventLoop::call(std::function<void()> action, bool handles) {
  {
    const std::scoped_lock lock(mutex_);
    actions_.push_back(std::move(action));
    if (taken_) return asio::post(io_, [this] { run_actions(); });
    taken_ = true;
  }
  try {
    run_actions();
    if (handles) io_.poll();
  } catch (...) {
    return fail();
  }
  const std::scoped_lock lock(mutex_);
  ++turns_;
  release_turn();
}

void EventLoop::run_actions() {
  std::unique_lock lock(mutex_);
  while (!actions_.empty()) {
    const std::function<void()> action = std::move(actions_.front());
    actions_.pop_front();
    lock.unlock();
    action();
    lock.lock();
  }
}

void EventLoop::take_over() {
  const std::scoped_lock lock(mutex_);
  needed_ = !own_has_turn_;
  own_.notify_one();
}

}  // namespace gdr::network
