// Work that knows no device, in a thread of its own: the caller waits without the GIL and hears
// signals.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace gdr::python {

/// Does `work` in another thread and returns when it is done, throwing what it threw; to be called
/// with the GIL held. When a signal's handler throws (Ctrl-C), the flag that `work` was given is
/// set; work that does not end within a moment is left to itself, and what it gives is dropped. So
/// it must hold copies of all that it uses.
void aside(std::function<void(const std::atomic<bool>& stop)> work);

/// The same for work that gives something.
template <typename Result>
Result aside_for(std::function<Result(const std::atomic<bool>& stop)> work) {
  const auto result = std::make_shared<std::optional<Result>>();
  aside([result, work = std::move(work)](const std::atomic<bool>& stop) {
    result->emplace(work(stop));
  });
  return std::move(**result);
}

/// Waits a while for what was left to itself, so that it does not outlive what it uses: for the end
/// of the process.
void wait_for_abandoned();

}  // namespace gdr::python
