// Work for the host's threads: phases one after the other, the tasks of a phase side by side.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace gdr {

struct Phase {
  std::size_t tasks = 0;
  std::function<void(std::size_t)> work;  ///< called once for each task number
};

/// Runs all phases in one parallel region of `threads` threads (1: on the caller alone). What a
/// task throws ends the rest of the work and is thrown again to the caller.
void run_phases(std::span<const Phase> phases, unsigned threads);

/// From now on every task that this thread's run_phases has done adds one to `counter`: the sign of
/// life of a board that somebody waits for. Null: nobody does.
void count_progress(std::atomic<std::uint64_t>* counter) noexcept;

/// The number of threads for work of this many host nanoseconds: a region costs more than it saves
/// when the work is small. `threads` is what the user asked for, 0 for OpenMP's choice.
unsigned threads_for(double nanoseconds, unsigned threads) noexcept;

}  // namespace gdr
