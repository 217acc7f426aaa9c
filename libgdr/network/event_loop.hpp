// An io_context that one thread at a time runs: a thread of its own, or one that waits for what its
// events bring. A thread that waits would otherwise sleep until the loop's thread has received a
// message and wakes it, which takes 5 to 50 us at each host, longer than a small call.
//
// Handlers run in the thread that has the turn, never concurrently. While threads come to wait at
// short intervals the loop's own thread leaves the loop to them; it takes over when nobody has had
// the turn for about a millisecond.
#pragma once

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "libgdr/driver/polling.hpp"

namespace gdr::network {

/// A thread that may wait for events. It outlives all calls of signal() for it: its wait may end
/// before the call does.
class Waiter {
  friend class EventLoop;
  std::condition_variable woken_;
  std::thread::id thread_;  ///< thread that has the turn
  bool has_turn_ = false, signalled_ = false;
};

class EventLoop {
 public:
  /// A thread that runs the loop polls for up to `poll_seconds` before it sleeps.
  explicit EventLoop(double poll_seconds) : polling_(poll_seconds) {}
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  asio::io_context& io() noexcept { return io_; }

  /// The work of the loop's own thread: returns when the io_context is stopped or has no work.
  /// Throws what a handler threw, in whichever thread.
  void run();

  /// Waits until done(), which another thread or a handler makes true before it calls signal(), or
  /// until the io_context is stopped. Runs the loop meanwhile if no other thread does.
  void wait(Waiter& waiter, const std::function<bool()>& done);
  /// Makes a waiting thread test its condition again.
  void signal(Waiter& waiter);

  /// Has `action` run in the loop: here and now if no thread runs it. Actions run in the order of
  /// the calls. Without `handles` this thread handles no events after the action: what it leaves,
  /// the next wait() does, or the loop's own thread soon.
  void call(std::function<void()> action, bool handles = true);

  /// Makes the loop's own thread take over as soon as no other thread has the turn, for work that
  /// goes on while nobody waits.
  void take_over();

 private:
  void run_some();
  void run_actions();
  void release_turn();
  void fail() noexcept;

  asio::io_context io_;
  std::mutex mutex_;
  std::condition_variable own_;                ///< wakes the loop's own thread
  std::deque<Waiter*> followers_;              ///< threads that wait for the turn
  std::deque<std::function<void()>> actions_;  ///< actions of call() that have not run
  bool taken_ = false;                         ///< a thread has the turn
  bool own_has_turn_ = false;                  ///< it is the loop's own thread
  bool own_sleeps_ = false;          ///< whether that thread waits for the next release of the turn
  bool needed_ = false;              ///< whether that thread should take over
  std::atomic<bool> asked_ = false;  ///< a thread asks the loop's own for the turn
  std::uint64_t turns_ = 0;          ///< turns of other threads
  std::exception_ptr failure_;       ///< what a handler threw in a thread that waited
  driver::Polling polling_;          ///< polling of the thread that has the turn
};

}  // namespace gdr::network
