// One queue of work for a device: done one after the other, by the caller where nobody is ahead of
// it, else by a background thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "libgdr/device/process.hpp"

namespace gdr {

/// A piece of work that can be submitted again and again, one submission at a time. The body
/// returns early, or throws Cancelled, when a stop is requested.
struct Work {
  std::function<void(const std::stop_token&)> body;
  bool background = false;  ///< nobody waits for it: an interrupt also reaches the work behind it

 private:
  friend class WorkQueue;
  std::stop_source stop;
  enum class State { Idle, Queued, Running, Done };
  State state = State::Idle;  ///< guarded by the queue's mutex
  std::exception_ptr error;   ///< what the body threw; set when Done
};

/// In a forked child, whose copy of it has no thread and may be locked for ever, nothing is done:
/// calls that would throw Error (Device), the others return at once.
class WorkQueue {
 public:
  WorkQueue() = default;
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  ~WorkQueue() { close(); }

  /// Do it now in this thread if nothing is queued or running, else after what is; return when it
  /// is done. Throws what the body threw. The work must be idle. Throws Error (Device) when closed.
  void run(Work& work);
  /// Do it in the background. The work must be idle.
  void submit(Work& work);
  /// True if it is not queued and not running.
  bool ready(const Work& work) const;
  /// Wait until it is done, and throw what its body threw (once). Does nothing for idle work.
  void wait(Work& work);
  /// Take it off the queue, or request a stop and wait until it has ended. Never throws.
  void cancel(Work& work) noexcept;
  /// Ask what is running to stop, and what waits for work that nobody waits for; returns at once.
  void interrupt() noexcept;
  /// Cancel everything and end the background thread.
  void close() noexcept;
  /// False in a child that was forked off since it was made.
  bool in_its_process() const noexcept { return process_.is_current(); }

 private:
  void loop();
  void execute(Work& work, std::unique_lock<std::mutex>& lock);
  void finish(Work& work, std::unique_lock<std::mutex>& lock);
  void require_open() const;
  void require_its_process() const;

  const ThisProcess process_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work*> queue_;
  Work* running_ = nullptr;
  bool closed_ = false;
  std::thread thread_;
};

}  // namespace gdr
