// Loops of the exact engine on a GPU.
#pragma once

#include <memory>

#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/engine/vector/doubles/loop_device.hpp"

namespace gdr {

/// Throws Error (Unsupported) if the GPU's doubles are not those of the IEEE standard
/// (self_test.hpp).
std::shared_ptr<LoopDevice> exact_loops_on(std::shared_ptr<Gpu> gpu);

}  // namespace gdr
