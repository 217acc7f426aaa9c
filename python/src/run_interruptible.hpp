// Runs work without a device in another thread, so that the caller waits without the GIL and
// handles signals.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace gdr::python {

/// What the end of the process does with a detached task: wait for it, or not.
enum class AtExit { Wait, Ignore };

/// Runs `work` in another thread and returns when it is done, rethrowing its exception. To be
/// called with the GIL held. When a signal handler throws (Ctrl-C), a stop of `work` is
/// requested; if `work` does not return within a grace period, its thread is detached and its
/// result discarded, so that `work` must own copies of everything it uses.
void run_interruptible(std::function<void(std::stop_token stop)> work, AtExit at_exit);

/// The same for work that returns a value.
template <typename Result>
Result run_interruptible_for(std::function<Result(std::stop_token stop)> work,
                             AtExit at_exit = AtExit::Wait) {
  const auto result = std::make_shared<std::optional<Result>>();
  run_interruptible([result, work = std::move(work)](
                        std::stop_token stop) { result->emplace(work(std::move(stop))); },
                    at_exit);
  return std::move(**result);
}

/// At the end of the process: waits, with a timeout, for detached tasks, which use its libraries.
void wait_for_detached();

}  // namespace gdr::python
