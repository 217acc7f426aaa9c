// Dense matrices dealt out over a grid of ranks: products, LU, and systems of equations as HPL
// solves them.
//
//   gdr::Device device = gdr::Device::open("mpi");
//   gdr::DistributedMatrices grid(device, {.block = 256});
//   std::vector<double> a(grid.local_rows(n) * grid.local_columns(n + 1));   // [A | b]
//   for (l, c of them) a[...] = element(grid.global_row(l), grid.global_column(c));
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
  unsigned rows = 0;        ///< of the grid; must divide the ranks. 0: as square as it can be, wide
  std::size_t block = 128;  ///< rows and columns that are dealt out together, and of a panel of LU
  MatrixPrecision precision = MatrixPrecision::Full;
  /// LU: the next panel is factorised while the boards work on the rest of the matrix. The bits are
  /// the same without; it is for measuring.
  bool look_ahead = true;
};

/// Where the time of LU went on this rank, over all calls, in seconds.
struct GridTimes {
  double seconds = 0;  ///< in lu()
  double update = 0;   ///< products on the boards
  double panel = 0;    ///< factorising panels, or waiting for who does
  double hidden = 0;   ///< of `panel`, while the update of the same step went on
};

/// Matrices are dealt out as ScaLAPACK and HPL do: in blocks of block x block, cyclically over the
/// grid, the first to rank 0; ranks stand in the grid row by row. A rank keeps its elements by
/// columns, `local_rows` to a column. All calls are collective; products run on each rank's boards,
/// panels on the hosts. In exact numerics every element has the same bits for any number of ranks
/// and any grid (the inner dimension is cut the same way for all), but they depend on the block.
/// Errors agree. Throws Error (Usage) for a grid that does not divide the ranks, a block of 0, and
/// null pointers to elements that are needed.
class DistributedMatrices {
 public:
  /// The device must outlive it; of one process it is a grid of one.
  explicit DistributedMatrices(Device& device, const GridOptions& options = {});
  ~DistributedMatrices();
  DistributedMatrices(DistributedMatrices&&) noexcept;
  DistributedMatrices& operator=(DistributedMatrices&&) noexcept;

  unsigned grid_rows() const noexcept;
  unsigned grid_columns() const noexcept;
  /// Of a matrix with so many rows or columns: how many this rank has.
  std::size_t local_rows(std::size_t m) const noexcept;
  std::size_t local_columns(std::size_t n) const noexcept;
  /// Which row or column of the whole matrix one of this rank's is.
  std::size_t global_row(std::size_t local) const noexcept;
  std::size_t global_column(std::size_t local) const noexcept;

  /// C = alpha A B + beta C, of m x k, k x n and m x n. What the next step needs travels while the
  /// boards work on this one. beta = 0 does not read C.
  void multiply(std::size_t m, std::size_t n, std::size_t k, double alpha, const double* a,
                const double* b, double beta, double* c);

  /// P A = L U of the first n columns of an n x (n + extra) matrix with partial pivoting, in place;
  /// the further columns become L^-1 P times what they were. `pivots` gets n row numbers, from 0,
  /// on every rank: row i was exchanged with row pivots[i], for i = 0, 1, ... Returns the first
  /// pivot that is exactly zero, if there is one.
  std::optional<std::size_t> lu(std::size_t n, std::size_t extra, double* a,
                                std::span<std::int64_t> pivots);
  GridTimes times() const noexcept;
  /// A x = b, `a` being [A | b] of n x (n + 1), which is overwritten by the factors. Every rank
  /// gets x. Throws Error (Input) if a pivot is exactly zero, with its number.
  std::vector<double> solve(std::size_t n, double* a);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
