// A work queue of a device: executes work sequentially, in the calling thread if the queue is
// empty, else in a background thread.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>

#include "emulator/host/threads.hpp"

namespace gdr {

/// The process that created an object.
class ThisProcess {
 public:
  ThisProcess() noexcept;
  /// False in a child forked since, which must not use the object.
  bool is_current() const noexcept;

 private:
  unsigned forks_;  ///< number of forks before this process
};

/// The number of host threads for a device opened now, given the requested number (0: chosen by
/// OpenMP). The first thread of a child forked after its parent opened a device gets one: OpenMP
/// would wait for ever for the thread team of the parent. New threads of the child get a new team.
unsigned threads_after_fork(unsigned asked) noexcept;

/// A reusable unit of work with at most one pending submission. The body returns early or throws
/// Cancelled after a stop request.
struct Work {
  std::function<void(const std::stop_token&)> body;
  bool background = false;  ///< no caller waits for it: an interrupt also cancels the next work

 private:
  friend class WorkQueue;
  std::stop_source stop;
  enum class State { Idle, Queued, Running, Done };
  State state = State::Idle;  ///< guarded by the queue's mutex
  std::exception_ptr error;   ///< exception of the body; set when Done
};

/// In a forked child the queue is unusable, as its thread does not exist and its mutex may be
/// locked: functions that may throw throw Error (Device), the others return at once.
class WorkQueue {
 public:
  WorkQueue() = default;
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  ~WorkQueue() { close(); }

  /// Executes the work, in this thread if nothing is queued or running, and returns when it is
  /// complete. The work must be idle. Throws the exception of the body, and Error (Device) when
  /// closed.
  void run(Work& work);
  /// Queues the work for the background thread. The work must be idle.
  void submit(Work& work);
  /// Whether the work is neither queued nor running.
  bool ready(const Work& work) const;
  /// Waits for completion and throws the exception of the body (once). No effect on idle work.
  void wait(Work& work);
  /// Removes the work from the queue, or requests a stop and waits for its end.
  void cancel(Work& work) noexcept;
  /// Requests a stop of the running work and, if that is background work, of the next; returns at
  /// once.
  void interrupt() noexcept;
  /// Cancels all work and ends the background thread.
  void close() noexcept;
  /// False in a child forked since construction.
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
  HostThread thread_;
};

}  // namespace gdr
