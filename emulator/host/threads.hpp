// Threads of the host: how many compute, and how they begin.
//
// All threads of the product come from this folder; tests/layers/check_places.py finds others.
// Passes, small calls and loops over arrays use the process's pool (parallel.hpp). Loops of
// libraries whose clients have parallel regions of their own use OpenMP's threads
// (loop_threads.hpp). Work that waits, or that runs beside its caller, has a thread of its own
// (start_thread, and run_concurrently, run_beside.hpp).
//
// Three rules hold for all of them: their number is at most usable_threads(); threads that the
// system refuses are missing without an error; a thread rounds to nearest, with subnormals,
// whatever its creator does.
#pragma once

#include <stop_token>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

#include "emulator/host/float_mode.hpp"
#include "emulator/host/host_limits.hpp"

namespace gdr {

/// The largest number of threads that compute at once: `limit`, the user's, or OpenMP's choice if
/// it is 0.
unsigned usable_threads(unsigned limit = 0) noexcept;

/// A thread that waits or runs beside others. Its destructor requests a stop and joins it.
using HostThread = std::jthread;

/// Runs work(), or work(stop) with a std::stop_token, in a thread of its own. Not joinable if the
/// system refuses the thread: the caller then does the work, or reports refused_thread_text().
template <typename Work>
HostThread start_thread(Work work) {
  try {
    return HostThread([work = std::move(work)](const std::stop_token& stop) mutable {
      const HostFloatMode mode;
      if constexpr (std::is_invocable_v<Work&, const std::stop_token&>)
        work(stop);
      else
        work();
    });
  } catch (const std::system_error&) {
    report_host_limit(HostLimit::Threads);
    return {};
  }
}

}  // namespace gdr
