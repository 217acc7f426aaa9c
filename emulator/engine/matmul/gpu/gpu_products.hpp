// Matrix products on GPUs.
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

/// The GPUs share the columns of every product; bits do not depend on their number. Those whose
/// work-groups or local memory are too small are left out; null if no GPU remains. GPUs are of one
/// kind, or the products exact: then the caller has tested that every GPU rounds as the host does.
/// `max_bytes`: of a buffer, 0 for what the GPU allows; matrices that need more are processed in
/// pieces.
std::shared_ptr<MatmulDevice> matmul_on(const Gpus& gpus, DeviceNumbers numbers,
                                        std::size_t max_bytes = 0);

}  // namespace gdr
