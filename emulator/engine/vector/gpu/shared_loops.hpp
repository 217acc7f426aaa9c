// Loops of the exact engine on one or several GPUs, which may fail.
#pragma once

#include <memory>

#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/engine/vector/doubles/loop_device.hpp"

namespace gdr {

/// The GPUs share the blocks of each batch; their results are the same bits. Where one fails, the
/// processor repeats its blocks, and the other GPUs go on; if none is left, the processor does
/// where the user allows that (Gpu::require_fallback). Throws Error (Unsupported) as
/// exact_loops_on for one GPU.
std::shared_ptr<LoopDevice> exact_loops_on(Gpus gpus);

}  // namespace gdr
