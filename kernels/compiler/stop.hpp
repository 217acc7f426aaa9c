// Giving up a search that nobody waits for any more.
#pragma once

#include <atomic>

#include "gdr/error.hpp"

namespace gdr::kc {

/// Throws Error (Device) once `stop` says so; without one nothing does.
inline void check_stop(const std::atomic<bool>* stop) {
  if (stop != nullptr && stop->load(std::memory_order_relaxed))
    throw Error(ErrorCategory::Device, "compiling was stopped");
}

}  // namespace gdr::kc
