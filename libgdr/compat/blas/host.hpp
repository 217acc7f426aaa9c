// The host's own BLAS, opened by name.
#pragma once

#include "libgdr/compat/blas/call.hpp"

namespace gdr::blas {

/// A routine of the host's BLAS, or null. The first call opens it: GDR_BLAS_HOST ("none": nothing),
/// else the first of the usual names that can be opened and is not this library. (The next symbol
/// in load order is not enough: Python loads its libraries with local symbols.)
void* host_routine(const char* name) noexcept;

/// A routine of the BLAS inside a wheel that this process has loaded, or null.
void* wheel_routine(const char* name) noexcept;

/// Path of the library that host_routine opened, or "none".
const char* host_path() noexcept;

/// The product by the caller's BLAS; by plain loops if there is none, or if its 32-bit sizes are
/// too small for the matrices.
template <typename Number>
void host_multiply(const Call<Number>& call) noexcept;

}  // namespace gdr::blas
