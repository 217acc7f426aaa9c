// Predicted times of matrix products and factorisations on a host with real boards. The library's
// own code for a product or a factorisation runs on boards that only apply the time model, with a
// clock in place of the host's threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "emulator/board/time_model.hpp"
#include "emulator/isa/geometry.hpp"
#include "gdr/kernel.hpp"
#include "libgdr/dense/host_model.hpp"
#include "libgdr/dense/tiles.hpp"

namespace gdr::dense {

/// Mapping of a product to a board, and the cost of a column.
struct BoardMapping {
  std::size_t rows = 0;       ///< rows of op(A) that the PEs hold at once
  std::size_t depth = 0;      ///< inner indices per chip
  std::uint64_t compute = 0;  ///< PE clocks per column
  std::size_t results = 0;    ///< result words of a column per chip
  std::size_t words = 0;      ///< input words of a column per chip: `depth` or half of it
  std::size_t block = 0;      ///< inner indices per block
};

/// The product kernel of an element format, and its clocks per column.
const Kernel& product_kernel(ElementFormat format);
std::uint64_t column_clocks(ElementFormat format);

/// The mapping of kernels/dense/dgemm.gds or sgemm.gds: the inner dimension is divided over the
/// blocks, and the network adds the partial sums.
BoardMapping network_mapping(const Geometry& geometry,
                             ElementFormat format = ElementFormat::Doubles);
/// The mapping of dgemm.gds on a machine without a network: each block returns a partial sum, and
/// the host adds them.
BoardMapping dgemm_without_network(const Geometry& geometry);
/// A better mapping for such a machine: every PE has `rows` rows (1, 2, 4 or 8) of its own, so that
/// no sums over PEs are needed, and the tile is larger in rows and smaller in depth by the same
/// factor. No kernel implements this; its PE clocks are assumed to be those of dgemm.gds.
BoardMapping rows_without_network(const Geometry& geometry, std::size_t rows);

class FactorClock;

/// The work of the busiest board, and its time, for C = A B + beta C on boards with a link each, A
/// being m x k and B k x n. `host` gets the time of storing the results.
WorkCounts product_counts(const Geometry& geometry, const BoardMapping& mapping, std::size_t m,
                          std::size_t n, std::size_t k, const BoardRates& rates = {},
                          unsigned boards = 1, double beta = 0, FactorClock* host = nullptr);
/// Peak rate, operations/s: a multiplication and an addition per PE every second clock.
double peak(const Geometry& geometry) noexcept;

/// Rate of a product of n x n matrices, operations/s.
double square_rate(const Geometry& geometry, const BoardMapping& mapping, std::size_t n);
/// The rate of the best mapping without a network for this n.
double square_rate_without_network(const Geometry& geometry, std::size_t n);
/// The smallest n, a multiple of 64 up to `most`, whose product exceeds half of the peak.
std::optional<std::size_t> half_peak_size(const Geometry& geometry, const BoardMapping& mapping,
                                          std::size_t most = 16384);

/// Time of some steps and busy times of the resources, seconds; `ports`: the busier of a chip's two
/// ports.
struct StepCost {
  double seconds = 0, host = 0, chip = 0, ports = 0, link_write = 0, link_read = 0;
  StepCost& operator+=(const StepCost&) noexcept;
  /// Cost of `times` repetitions.
  friend StepCost operator*(double times, StepCost) noexcept;
};

/// Times of a factorisation by phases, seconds. With look-ahead, panels overlap with updates: the
/// sum of the phases then exceeds the total.
struct LuTime {
  double total = 0;
  double panels = 0;     ///< factorisation of panels on the host
  double exchanges = 0;  ///< row exchanges of the whole matrix on the host
  double solves = 0;     ///< triangular solves, on the board or (small ones) the host
  double updates = 0;    ///< trailing updates, on the board or (small ones) the host
  double additions = 0;  ///< storing of the boards' results by the host, during solves and updates
  StepCost use;          ///< busy times of the resources
  double gflops(std::size_t n) const noexcept;
};

/// The clock of a host with boards, over which the tiles of a product are distributed, or without
/// boards. The code of a factorisation (factor.hpp) adds its steps to it instead of executing them.
/// Products run on the boards at the same time as the steps of the host, until `wait`.
class FactorClock {
 public:
  /// Products reach at most `product_share` of the boards' peak.
  explicit FactorClock(const Geometry& geometry, const BoardRates& rates = {},
                       const HostRates& host = {}, unsigned boards = 1, double product_share = 1);

  /// Begins a phase: following steps are added to this member of LuTime too.
  void begin(double LuTime::*phase) noexcept { phase_ = phase; }
  /// Adds a step of the host: the larger of the times of its arithmetic and its memory traffic.
  void add_work(double flops, double bytes) noexcept;
  /// Adds an exchange of `pairs` of elements of two rows. The element that moves up is in a cache
  /// line of its own; those that move down are contiguous.
  void add_exchange(double pairs) noexcept { add_work(0, 2 * host_.cache_line * pairs); }
  /// Starts C = A B + beta C on the boards, and adds the storing of its results to the host.
  void start_product(std::size_t m, std::size_t n, std::size_t k, double beta);
  /// Waits for the last product.
  void wait() noexcept { time_.total = std::max(time_.total, boards_until_); }

  /// Whether the library computes a product on the boards.
  bool on_device(std::size_t m, std::size_t n, std::size_t k) const noexcept;
  /// Time at which the boards have computed the last product, seconds.
  double boards_until() const noexcept { return boards_until_; }
  const LuTime& time() const noexcept { return time_; }
  /// Total time and busy times.
  StepCost cost() const noexcept;

 private:
  Geometry geometry_;
  BoardRates rates_;
  HostRates host_;
  unsigned boards_;
  double product_share_;
  BoardMapping mapping_;
  double LuTime::*phase_ = &LuTime::updates;
  double boards_until_ = 0;
  LuTime time_;
};

/// LinearSolver::lu of an n x n matrix in chip precision with panels of `block` columns.
LuTime predict_lu(FactorClock clock, std::size_t n, std::size_t block, bool overlap);

}  // namespace gdr::dense
