// A session with the files of a server, at the client.
#pragma once

#include <memory>

#include "libgdr/driver/network.hpp"
#include "libgdr/driver/server_files.hpp"

namespace gdr::network {

/// Throws Error (Device, Usage, Io).
std::unique_ptr<driver::ServerFiles> open_files(const driver::NetworkRequest& request);

}  // namespace gdr::network
