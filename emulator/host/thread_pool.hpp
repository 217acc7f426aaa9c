// A pool of helper threads. The caller works itself and waits only for helpers that have begun: if
// their cores are busy, it does all the work.
#pragma once

#include <cstddef>
#include <functional>

namespace gdr {

/// Calls work(slot, task) for all tasks, in the caller and up to `helpers` threads of the process's
/// pool. Slots 0 (the caller) to `helpers` are given to at most one thread each. Returns when all
/// calls have; `work` must not throw. Nested calls run on the calling thread.
void parallel_for(std::size_t tasks, unsigned helpers,
                  const std::function<void(unsigned slot, std::size_t task)>& work);

/// Whether this thread is executing a task of parallel_for.
bool inside_parallel_for() noexcept;

}  // namespace gdr
