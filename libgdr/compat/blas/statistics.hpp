// Counts of products on the device and on the host.
#pragma once

#include "libgdr/compat/blas/call.hpp"

namespace gdr::blas {

enum class ComputedOn : std::uint8_t { Device, Host };

/// Count a product. With GDR_BLAS_STATS=1, each process prints at exit a line for each routine that
/// was called: "gdrblas: dgemm device=N host=M flops=F", F being the operations of both.
void count(Routine routine, ComputedOn where, double flops) noexcept;

/// Reset all counts, for the child of a fork.
void reset_statistics() noexcept;

}  // namespace gdr::blas
