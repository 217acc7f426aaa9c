// Limits of the host that make work slower, never different: threads or memory that the system
// refuses.
#pragma once

#include <cstdint>
#include <string>

namespace gdr {

enum class HostLimit : std::uint8_t {
  Threads,         ///< a thread cannot be created
  ExecutableCode,  ///< memory may not become executable
};

/// Records that this process has met a limit. Thread-safe.
void report_host_limit(HostLimit limit) noexcept;

/// What an error says if work needs a thread or a process that the system refuses, and what to do.
std::string refused_thread_text();

/// The limits that this process has met: what is missing, its effect and what to do, one clause
/// each; empty if there are none. Statistics::fallback_reason and `gdr info` have this text.
std::string host_limits_text();

/// Whether memory may become executable, tested with a page. A failure is recorded.
bool can_execute_generated_code() noexcept;

}  // namespace gdr
