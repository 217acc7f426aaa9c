// Jobs on a described machine: particles, products of matrices, LU, and HPL on a grid of nodes.
#pragma once

#include <cstddef>
#include <optional>

#include "libgdr/predict/machine.hpp"
#include "libgdr/predict/particle_time.hpp"
#include "libgdr/predict/usage.hpp"

namespace gdr::predict {

/// Distribution of a particle job over nodes: `rows` groups have different targets, `columns`
/// groups different sources.
struct ParticleGrid {
  std::size_t rows = 1, columns = 1;
};

/// One force calculation. Every node begins with an equal part of the particles: targets are sent
/// to the nodes of its row, sources to those of its column; partial results are reduced along the
/// row and returned to the nodes of the targets. Packing, transfers, computation and unpacking
/// follow each other: only transfers and computation within a board overlap. Without a grid the
/// fastest one is used. Throws the errors of particle_time, and Error (Usage) for a machine without
/// boards or a grid that does not fit it.
Prediction predict_particles(const Machine& machine, const KernelShape& kernel,
                             const ParticleJob& job, std::optional<ParticleGrid> grid = {});

/// C = A B, A being m x k and B k x n, in chip precision (50 bits of the factors, one pass). On
/// many nodes blocks of C are distributed over the most square grid, and strips of A and B of the
/// depth of a node's boards are sent along its rows and columns during the product of the previous
/// strip. Throws Error (Usage) for a machine without boards.
Prediction predict_product(const Machine& machine, std::size_t m, std::size_t n, std::size_t k);

/// LU of an n x n matrix by this library's LinearSolver on one node. `block` 0: the library's
/// default. Throws Error (Usage) for a machine of several nodes.
Prediction predict_lu(const Machine& machine, std::size_t n, std::size_t block, bool overlap);

/// HPL: LU of a matrix in square blocks, distributed cyclically over `rows` x `columns` nodes.
struct HplJob {
  std::size_t n = 0;
  std::size_t block = 2048;  ///< default of lu2 (below), and the depth of a board of four chips
  std::size_t rows = 1, columns = 1;
  bool look_ahead = true;  ///< factorise the next panel while the boards update the rest
};

/// Chooses the most square grid with rows <= columns.
void choose_grid(std::size_t nodes, HplJob& job) noexcept;
/// The largest matrix that fits four fifths of the machine's memory, in whole blocks for every
/// node. HPL's guide recommends this share (netlib.org/benchmark/hpl/faqs.html). The memory also
/// holds three panels, as in the program of the cluster of 2010 (github.com/jmakino/lu2).
std::size_t largest_matrix(const Machine& machine, const HplJob& job) noexcept;

/// Simulates all steps: factorisation of the panel by the nodes of a grid column (with a search for
/// every pivot over the network), its broadcast along the grid rows, exchange of rows and broadcast
/// of the upper blocks along the columns, triangular solves, and the update by the boards, during
/// which the next panel is factorised. Volumes and numbers of messages are those of HPL's published
/// analysis (netlib.org/benchmark/hpl/scalability.html), costs of the nodes those of this library's
/// LU (libgdr/dense). Throws Error (Usage) if the grid does not fit the machine or the matrix its
/// memory.
Prediction predict_hpl(const Machine& machine, const HplJob& job);

}  // namespace gdr::predict
