// The device of this process.
#pragma once

#include "libgdr/compat/blas/call.hpp"

namespace gdr::blas {

/// The product on the device, which is opened by the first call; calls of several threads take
/// turns. False: the device could not do it, one line on standard error says why (the first time),
/// and C is as it was, so that the host can.
template <typename Number>
bool device_multiply(const Call<Number>& call) noexcept;

}  // namespace gdr::blas
