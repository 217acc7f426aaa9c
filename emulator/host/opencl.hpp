// Former name of emulator/host/gpu/device.hpp.
#pragma once

#include "emulator/host/gpu/device.hpp"

namespace gdr {
namespace opencl = gpu;
}
