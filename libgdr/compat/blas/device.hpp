// The device of this process.
#pragma once

#include "libgdr/compat/blas/call.hpp"

namespace gdr::blas {

/// The product on the device, which the first call opens; calls of several threads are serialised.
/// Returns false if the device failed: C is unchanged, and the first failure is reported on
/// standard error.
template <typename Number>
bool device_multiply(const Call<Number>& call) noexcept;

}  // namespace gdr::blas
