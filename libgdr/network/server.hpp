// The part of a board server that accepts connections.
#pragma once

#include "libgdr/driver/network.hpp"

namespace gdr::network {

/// Serves clients in this thread until the process ends. Throws Error (Usage, Io) for invalid
/// credentials.
void serve(const driver::NetworkServerOptions& options);

}  // namespace gdr::network
