// The host's own BLAS, opened by name.
#pragma once

#include "libgdr/compat/blas/call.hpp"

namespace gdr::blas {

/// A routine of the host's BLAS, or null. The first call opens it: GDR_BLAS_HOST ("none": nothing),
/// else the first of the usual names that can be opened and is not this library. (The next symbol
/// in load order would not do: Python loads its libraries where nobody else sees them.)
void* host_routine(const char* name) noexcept;

/// A routine of the BLAS inside a wheel that this process has loaded, or null.
void* wheel_routine(const char* name) noexcept;

/// Whose path messages give: the library that host_routine opened, or "none".
const char* host_path() noexcept;

/// The product by the BLAS that the caller meant; by plain loops where there is none, or where it
/// has 32-bit sizes and the matrices are larger.
template <typename Number>
void host_multiply(const Call<Number>& call) noexcept;

}  // namespace gdr::blas
