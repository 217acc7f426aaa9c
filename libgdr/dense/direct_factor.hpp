// Direct products (host/direct.hpp) of the library's matrices, and which devices compute them.
#pragma once

#include <algorithm>

#include "gdr/matrix.hpp"
#include "libgdr/dense/host/direct.hpp"
#include "libgdr/device/core.hpp"

namespace gdr::dense {

/// Whether a device computes products from the caller's arrays, in the host's arithmetic.
inline bool multiplies_arrays(const DeviceCore& device) {
  return !device.preserve_chip_state &&
         std::ranges::all_of(device.boards,
                             [](const BoardSlot& slot) { return slot.board->multiplies_arrays(); });
}

/// The instruction set of these products: that of the engine.
inline Isa direct_isa(const DeviceCore& device) { return device.boards.front().board->isa(); }

template <typename Number>
DirectFactor<Number> direct_factor(const MatrixView<const Number>& x) noexcept {
  const bool transposed = x.transpose == Transpose::Yes;
  return {x.data, transposed ? x.stride : 1, transposed ? 1 : x.stride};
}

}  // namespace gdr::dense
