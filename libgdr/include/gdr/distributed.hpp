// Dense matrices distributed block-cyclically over a grid of ranks: products, LU, and systems of
// equations as in HPL.
//
//   gdr::Device device = gdr::Device::open("mpi");
//   gdr::DistributedMatrices grid(device, {.block = 256});
//   std::vector<double> a(grid.local_rows(n) * grid.local_columns(n + 1));   // [A | b]
//   for (l, c) a[l + c * grid.local_rows(n)] = element(grid.global_row(l), grid.global_column(c));
//   std::vector<double> x = grid.solve(n, a.data());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gdr/matrix.hpp"

namespace gdr {

struct GridOptions {
  unsigned rows = 0;  ///< grid rows, a divisor of the ranks; 0: the most square grid
  std::size_t block =
      128;  ///< rows and columns of a distribution block, and columns of an LU panel
  MatrixPrecision precision = MatrixPrecision::Full;
  /// Whether LU factorises the next panel while the boards update the rest of the matrix. The
  /// results have the same bits either way.
  bool look_ahead = true;
};

/// Times of LU on this rank over all calls, seconds.
struct GridTimes {
  double seconds = 0;  ///< total time of lu()
  double update = 0;   ///< time of products on the boards
  double panel = 0;    ///< time of factorising panels or waiting for them
  double hidden = 0;   ///< part of `panel` that overlaps with the update of the same step
};

/// Matrices have the two-dimensional block-cyclic distribution of ScaLAPACK and HPL: blocks of
/// block x block, the first on rank 0; ranks are numbered row by row in the grid. A rank stores its
/// elements in column-major order with `local_rows` as leading dimension. All calls are collective;
/// products run on each rank's boards, panels on the hosts. In exact numerics every element has the
/// same bits for any number of ranks and any grid, but depends on the block. Errors are the same on
/// all ranks. Throws Error (Usage) for grid rows that do not divide the ranks, a block of 0, and
/// null pointers to required elements, and vectors, spans and arrays that are too short (Numbers).
class DistributedMatrices {
 public:
  /// The device must outlive it. The grid of a device of one process is 1 x 1.
  explicit DistributedMatrices(Device& device, const GridOptions& options = {});
  ~DistributedMatrices();
  DistributedMatrices(DistributedMatrices&&) noexcept;
  DistributedMatrices& operator=(DistributedMatrices&&) noexcept;

  unsigned grid_rows() const noexcept;
  unsigned grid_columns() const noexcept;
  /// Number of rows of m, or columns of n, that this rank stores.
  std::size_t local_rows(std::size_t m) const noexcept;
  std::size_t local_columns(std::size_t n) const noexcept;
  /// Global index of a local row or column.
  std::size_t global_row(std::size_t local) const noexcept;
  std::size_t global_column(std::size_t local) const noexcept;

  /// C = alpha A B + beta C, of m x k, k x n and m x n. Transfers for the next step overlap with
  /// the computation of the current one. beta = 0 does not read C.
  void multiply(std::size_t m, std::size_t n, std::size_t k, double alpha, Numbers<const double> a,
                Numbers<const double> b, double beta, Numbers<double> c);

  /// P A = L U of the first n columns of an n x (n + extra) matrix with partial pivoting, in place;
  /// the further columns X are overwritten with L^-1 P X. `pivots` gets n row numbers, from 0, on
  /// every rank: row i was exchanged with row pivots[i], for i = 0, 1, ... Returns the first pivot
  /// that is exactly zero, if any.
  std::optional<std::size_t> lu(std::size_t n, std::size_t extra, Numbers<double> a,
                                std::span<std::int64_t> pivots);
  GridTimes times() const noexcept;
  /// Solves A x = b; `a` is [A | b] of n x (n + 1) and is overwritten with the factors. Returns x
  /// on every rank. Throws Error (Input) with the index of the first pivot that is exactly zero.
  std::vector<double> solve(std::size_t n, Numbers<double> a);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
