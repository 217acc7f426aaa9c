// The device that a command line names.
#pragma once

#include <string>

#include "gdr/device.hpp"
#include "libgdr/device/default_engines.hpp"

namespace gdr::cli {

/// --device, and the options --engine, --isa and --threads as given. Empty or 0: the environment's
/// choice (GDR_DEVICE, GDR_ENGINE, GDR_ISA), else the default.
struct DeviceChoice : DeviceOptions {
  std::string device;
};

/// Open the chosen device for a use, which decides the engine where none is named. Throws Error
/// (Usage, Unsupported or Device).
Device open_device(const DeviceChoice& choice, EngineUse use = EngineUse::Calculation);

}  // namespace gdr::cli
