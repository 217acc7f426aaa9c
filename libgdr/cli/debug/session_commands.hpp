// The table of the debugger's commands.
#pragma once

#include <span>

#include "libgdr/cli/debug/session.hpp"

namespace gdr::cli {

struct SessionCommand {
  Session::Help help;
  void (*run)(Session& session, Words& words);
  bool repeats = false;  ///< an empty line repeats it
};

std::span<const SessionCommand> session_commands() noexcept;

}  // namespace gdr::cli
