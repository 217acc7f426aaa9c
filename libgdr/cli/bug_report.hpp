// What a maintainer needs to know about an installation, as text for an issue.
#pragma once

#include <string>

#include "libgdr/cli/device_choice.hpp"

namespace gdr::cli {

/// Version and build, host, interfaces, environment, and the devices with the results of their
/// tests: emulated boards with every engine, the boards that this host can reach, and the chosen
/// device. Has no names of hosts and users, and no paths of home folders.
std::string bug_report(const DeviceChoice& choice);

}  // namespace gdr::cli
