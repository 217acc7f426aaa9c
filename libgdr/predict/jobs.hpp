// Jobs of the library on a described machine: particles, products of matrices, LU.
#pragma once

#include <cstddef>
#include <optional>

#include "libgdr/predict/machine.hpp"
#include "libgdr/predict/particle_time.hpp"
#include "libgdr/predict/usage.hpp"

namespace gdr::predict {

/// How a particle job is distributed over nodes: `rows` groups have different targets, `columns`
/// groups different sources.
struct ParticleGrid {
  std::size_t rows = 1, columns = 1;
};

/// One force calculation. Every node begins with an equal share of the particles: targets go to the
/// nodes of its row, sources to those of its column, partial results are added up along the row and
/// end where the targets came from. Words are packed, sent, computed and unpacked one after the
/// other: only transfers and computation within a board overlap. Takes the grid with the least time
/// if none is given. Throws what particle_time does, and Error (Usage) for a machine without boards
/// or a grid that it does not have.
Prediction predict_particles(const Machine& machine, const KernelShape& kernel,
                             const ParticleJob& job, std::optional<ParticleGrid> grid = {});

/// C = A B, A being m x k and B k x n, in chip precision (50 bits of the factors, one pass). On
/// many nodes blocks of C lie on a grid that is nearly square, and strips of A and B as deep as a
/// node's boards take at once go along its rows and columns while the strip before is worked on.
/// Throws Error (Usage) for a machine without boards.
Prediction predict_product(const Machine& machine, std::size_t m, std::size_t n, std::size_t k);

/// LU of an n x n matrix by this library's LinearSolver on one node. `block` 0: what the library
/// takes. Throws Error (Usage) for a machine of several nodes: that is what HPL is for.
Prediction predict_lu(const Machine& machine, std::size_t n, std::size_t block, bool overlap);

}  // namespace gdr::predict
