// Background threads for long work: the caller waits without the GIL and handles signals.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

#include "emulator/host/threads.hpp"

namespace gdr::python {

/// One persistent thread for one task at a time; OpenMP keeps its team of threads.
class Worker {
 public:
  /// Starts `work`; the previous task must have completed. To be called with the GIL held. Where
  /// the system refuses a thread, the work is done here, without the GIL.
  std::future<void> start(std::function<void()> work);

 private:
  void loop(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::packaged_task<void()> work_;
  HostThread thread_;
};

/// Whether the task completes within the timeout. To be called with the GIL held, which is released
/// meanwhile.
bool completes_within(const std::future<void>& task, std::chrono::milliseconds timeout);

/// What the end of the process does with a detached task: wait for it, or not.
enum class AtExit { Wait, Ignore };

/// Runs `work` in a thread of its own and returns when it is done, rethrowing its exception. To be
/// called with the GIL held. When a signal handler throws (Ctrl-C), a stop of `work` is requested;
/// if `work` does not return within a grace period, its thread is detached and its result
/// discarded, so that `work` must own copies of everything it uses. `poll` is called from time to
/// time, with the GIL held, and may throw like a signal handler. Where the system refuses a thread,
/// `work` runs in the calling thread, and signals are handled after it.
void run_interruptible(std::function<void(std::stop_token stop)> work, AtExit at_exit,
                       const std::function<void()>& poll = {});

/// The same for work that returns a value.
template <typename Result>
Result run_interruptible_for(std::function<Result(std::stop_token stop)> work,
                             AtExit at_exit = AtExit::Wait,
                             const std::function<void()>& poll = {}) {
  const auto result = std::make_shared<std::optional<Result>>();
  run_interruptible([result, work = std::move(work)](
                        std::stop_token stop) { result->emplace(work(std::move(stop))); },
                    at_exit, poll);
  return std::move(**result);
}

/// At the end of the process: waits, with a timeout, for detached tasks, which use its libraries.
void wait_for_detached();

}  // namespace gdr::python
