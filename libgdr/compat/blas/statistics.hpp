// How many products went where.
#pragma once

#include "libgdr/compat/blas/call.hpp"

namespace gdr::blas {

enum class Place : std::uint8_t { Device, Host };

/// Count a product. Of GDR_BLAS_STATS=1, each process prints at its end a line for each routine
/// that was called: "gdrblas: dgemm device=N host=M flops=F", F being the operations of both.
void count(Routine routine, Place place, double flops) noexcept;

/// All counts 0 again, for the child of a fork.
void reset_statistics() noexcept;

}  // namespace gdr::blas
