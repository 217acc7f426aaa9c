// The device that a command line names.
#pragma once

#include <string>

#include "gdr/device.hpp"

namespace gdr::cli {

/// --device, --engine, --isa and --threads as given. Empty or 0: the environment's choice
/// (GDR_DEVICE, GDR_ENGINE, GDR_ISA), else the default.
struct DeviceChoice {
  std::string device;
  std::string engine;
  std::string isa;
  unsigned threads = 0;
};

/// The choice as options of Device::open.
DeviceOptions device_options(const DeviceChoice& choice);

/// Open the chosen device. Throws Error (Usage, Unsupported or Device).
Device open_device(const DeviceChoice& choice);

}  // namespace gdr::cli
