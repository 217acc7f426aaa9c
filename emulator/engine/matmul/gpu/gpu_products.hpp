// Matrix products on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/engine/matmul/matmul_device.hpp"

namespace gdr {

/// Arithmetic of a product.
enum class DeviceNumbers : std::uint8_t {
  Doubles,
  Floats,  ///< factors rounded to floats, and sums of pieces in pairs of them
  Exact,   ///< the machine's
};

/// Null if the GPU's work-groups or its local memory are too small. For exact products the caller
/// has tested that the GPU rounds as the host does. `most_bytes`: of a buffer, 0 for what the GPU
/// allows; matrices that need more are processed in pieces.
std::shared_ptr<MatmulDevice> matmul_on(std::shared_ptr<Gpu> gpu, DeviceNumbers numbers,
                                        std::size_t most_bytes = 0);

}  // namespace gdr
