// The commands that use the relay, and the end of everything that they started.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "libgdr/relay/namespaces.hpp"

namespace gdr::relay {

/// Starts a shell command in a namespace, which becomes that of the process. It is killed if the
/// relay ends; its standard input is that of the relay or, on request, empty.
pid_t start_command(const std::string& command, const HostNamespace& host, bool with_input);

/// Starts a process that continues here: its identity, and 0 in that process, which is killed if
/// the relay ends, and gets all signals again.
pid_t start_process();

/// Whether any child has ended.
bool any_child_ended();

/// From now on processes whose parent has ended become children of the relay.
void adopt_orphans();

/// The exit status of a child if it has ended: 128 plus the number for signals.
std::optional<int> exit_status(pid_t process);

/// Ends all children, and their children in turn: SIGTERM, and SIGKILL after a second.
void end_all_children();

}  // namespace gdr::relay
