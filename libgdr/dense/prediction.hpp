// Predicted times of matrix products and LU on one real board and its host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "emulator/board/time_model.hpp"
#include "emulator/isa/geometry.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/dense/tiles.hpp"

namespace gdr::dense {

/// How a product lies on a board, and what a column of it costs.
struct BoardMapping {
  std::size_t rows = 0;       ///< of op(A) that the PEs hold at once
  std::size_t depth = 0;      ///< inner indices of a chip
  std::uint64_t compute = 0;  ///< PE clocks a column
  std::size_t results = 0;    ///< words of a column that leave a chip
  std::size_t words = 0;      ///< of a column that enter a chip: as many as `depth`, or half
  std::size_t block = 0;      ///< inner indices of a block
};

/// Kernel that multiplies numbers held so, and its clocks a column.
const Kernel& product_kernel(ElementFormat format);
std::uint64_t column_clocks(ElementFormat format);

/// That of kernels/dense/dgemm.gds: blocks divide the inner dimension, the network adds up. Or that
/// of kernels/dense/sgemm.gds.
BoardMapping network_mapping(const Geometry& geometry,
                             ElementFormat format = ElementFormat::Doubles);
/// The same on a machine without a network: a partial sum leaves each block, the host adds them.
BoardMapping dgemm_without_network(const Geometry& geometry);
/// What such a machine would be used for instead: every PE has `rows` rows (1, 2, 4 or 8) of its
/// own, so that nothing is left to add on the chip, and the tile is as many times higher and less
/// deep. No kernel does this; its PE clocks are taken to be those of dgemm.gds.
BoardMapping rows_without_network(const Geometry& geometry, std::size_t rows);

/// What a product takes on the board that works longest.
struct ProductTime {
  double seconds = 0;
  ChipClocks clocks;  ///< of its busiest chip
  std::uint64_t bytes_to_board = 0, bytes_from_board = 0;
};
/// C = A B on boards with a link each, A being m x k and B k x n: the time model applied to the
/// command lists of MatrixProduct.
ProductTime product_time(const Geometry& geometry, const BoardMapping& mapping, std::size_t m,
                         std::size_t n, std::size_t k, const BoardRates& rates = {},
                         unsigned boards = 1);
/// Its seconds.
double product_seconds(const Geometry& geometry, const BoardMapping& mapping, std::size_t m,
                       std::size_t n, std::size_t k, const BoardRates& rates = {});
/// Operations a second at which all PEs multiply and add in every second clock.
double peak(const Geometry& geometry) noexcept;

/// Operations a second of a product of n x n matrices.
double square_rate(const Geometry& geometry, const BoardMapping& mapping, std::size_t n);
/// The better one of its mappings without a network, for this n.
double square_rate_without_network(const Geometry& geometry, std::size_t n);
/// The smallest n, a multiple of 64 up to `most`, whose product passes half of the peak.
std::optional<std::size_t> half_peak_size(const Geometry& geometry, const BoardMapping& mapping,
                                          std::size_t most = 16384);

/// What a step takes, and the seconds in which each resource works meanwhile; of a chip's two ports
/// the busier one.
struct StepCost {
  double seconds = 0, host = 0, chip = 0, ports = 0, link_write = 0, link_read = 0;
  StepCost& operator+=(const StepCost&) noexcept;
  /// As if it were done `times` times.
  friend StepCost operator*(double times, StepCost) noexcept;
};

/// Where the time of an LU goes, in seconds. Panels of the look-ahead stand beside updates: the
/// parts then add up to more than the total.
struct LuTime {
  double total = 0;
  double panels = 0;     ///< host
  double exchanges = 0;  ///< host, rows of the whole matrix
  double solves = 0;     ///< triangles left of the updates: board, and host for small ones
  double updates = 0;    ///< board and link
  double additions = 0;  ///< host: what belongs to the updates, while the board works
  StepCost use;          ///< seconds in which each resource works
  double gflops(std::size_t n) const noexcept;
};
/// LinearSolver::lu of an n x n matrix in chip precision, one board, panels of `block` columns,
/// host as in host_model.hpp.
LuTime predict_lu(const Geometry& geometry, std::size_t n, std::size_t block, bool overlap);
class FactorCost;
/// The same with other boards or another host (factor_cost.hpp).
LuTime predict_lu(const FactorCost& cost, std::size_t n, std::size_t block, bool overlap);

}  // namespace gdr::dense
