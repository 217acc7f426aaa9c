// A run of the relay: commands or ports, and the network between them.
#pragma once

#include <functional>
#include <string>

#include "libgdr/relay/settings.hpp"

namespace gdr::relay {

/// Exit statuses beside those of the client.
inline constexpr int unavailable_status = 77, time_limit_status = 124, error_status = 125;

/// Where a run writes its lines: what it reports, and failures.
struct RunOutput {
  std::function<void(const std::string&)> report, problem;
};

/// Runs until the client has ended, or with ports until a signal or the time limit; returns the
/// exit status. One thread may run in the process, whose namespace changes. Throws gdr::Error:
/// Unsupported where namespaces or TUN devices are not available, Usage for wrong settings, Io for
/// a port in use or a file that cannot be written.
int run(const Settings& settings, const RunOutput& output);

/// Throws gdr::Error (Unsupported) where namespaces or TUN devices are not available.
void check_available();

}  // namespace gdr::relay
