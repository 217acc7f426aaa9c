// Cancellation of a compilation.
#pragma once

#include <stop_token>

#include "gdr/error.hpp"

namespace gdr::kc {

/// Throws Error (Device) if a stop was requested.
inline void throw_if_stopped(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Error(ErrorCategory::Device, "compilation was cancelled");
}

}  // namespace gdr::kc
