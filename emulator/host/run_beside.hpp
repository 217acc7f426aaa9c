// Work beside that of its caller, where the system gives a thread for it.
#pragma once

#include <future>
#include <system_error>
#include <type_traits>
#include <utility>

#include "emulator/host/host_limits.hpp"

namespace gdr {

/// Runs `work` in a thread of its own. Without `own_thread`, or where the system refuses one, it
/// runs in the thread that asks the future for its result, so that `work` may only depend on what
/// has happened before this call.
template <typename Work>
std::future<std::invoke_result_t<Work>> run_beside(Work work, bool own_thread = true) {
  if (own_thread) try {
      return std::async(std::launch::async, work);
    } catch (const std::system_error&) {
      report_host_limit(HostLimit::Threads);
    }
  return std::async(std::launch::deferred, std::move(work));
}

}  // namespace gdr
