// Checks of the inputs of the Hermite integrator.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "gdr/hermite.hpp"

namespace gdr {

/// Throws Error (Input).
template <typename... Args>
[[noreturn]] void bad_input(fmt::format_string<Args...> message, Args&&... args) {
  throw Error(ErrorCategory::Input, fmt::format(message, std::forward<Args>(args)...));
}

/// Each throws Error (Input) naming the option or the particle.
void check_options(const HermiteOptions& options);
void check_state(const HermiteState& state);
/// For n particles with `each` values; Error (Usage) for a null pointer.
void check_finite(std::size_t n, const double* values, std::size_t each, const char* what);

/// The values that must be equal on all ranks, as text.
std::string shared_values(const HermiteOptions& options, std::int64_t cycle = 0, double now = 0);

}  // namespace gdr
