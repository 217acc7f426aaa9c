// Work that knows no device, in a thread of its own: the caller waits without the GIL and hears
// signals.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

namespace gdr::python {

/// Does `work` in another thread and returns when it is done, throwing what it threw; to be called
/// with the GIL held. When a signal's handler throws (Ctrl-C), a stop is requested of `work`; work
/// that does not end within a moment is left to itself, and what it gives is dropped. So it must
/// hold copies of all that it uses. The end of the process waits a while for work that was left,
/// unless it only waits itself.
enum class AtExit { Wait, Leave };
void aside(std::function<void(std::stop_token stop)> work, AtExit at_exit);

/// The same for work that gives something.
template <typename Result>
Result aside_for(std::function<Result(std::stop_token stop)> work, AtExit at_exit = AtExit::Wait) {
  const auto result = std::make_shared<std::optional<Result>>();
  aside([result,
         work = std::move(work)](std::stop_token stop) { result->emplace(work(std::move(stop))); },
        at_exit);
  return std::move(**result);
}

/// For the end of the process: waits a while for what was left to itself, so that it does not
/// outlive what it uses.
void wait_for_abandoned();

}  // namespace gdr::python
