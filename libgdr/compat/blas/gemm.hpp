// Products from all entry points.
#pragma once

#include "libgdr/compat/blas/call.hpp"

namespace gdr::blas {

/// C = alpha op(A) op(B) + beta C on the device or, if it has fewer operations than the threshold
/// or the device cannot do it, on the host; counted. The arguments have been checked.
template <typename Number>
void multiply(const Call<Number>& call) noexcept;

}  // namespace gdr::blas
