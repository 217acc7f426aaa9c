// Threads of the host that help with work. Who has work does it, and waits for nobody who has not
// begun: where the helpers' cores are busy with something else, it does all of it.
#pragma once

#include <cstddef>
#include <functional>

namespace gdr {

/// Calls work(slot, task) for all tasks, some of them in up to `helpers` threads of the process's
/// pool. Slots 0 (the caller) to `helpers` are given to at most one thread each. Returns when all
/// calls have; `work` must not throw. From within such a call, everything is done by the caller.
void share_tasks(std::size_t tasks, unsigned helpers,
                 const std::function<void(unsigned slot, std::size_t task)>& work);

/// Whether this thread is inside a task of share_tasks.
bool inside_shared_task() noexcept;

}  // namespace gdr
