// The environment variables that choose for options which a command line does not give.
#pragma once

#include <span>
#include <string_view>

namespace gdr::cli {

struct EnvironmentVariable {
  std::string_view name;
  std::string_view meaning;  ///< one line without a full stop
};

/// For manual pages and --verbose; docs/reference/environment.md has these and others.
std::span<const EnvironmentVariable> environment_variables() noexcept;

}  // namespace gdr::cli
