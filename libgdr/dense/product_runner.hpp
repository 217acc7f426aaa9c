// The implementation of MatrixProduct: the call that runs, and the command lists for the boards.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "gdr/matrix.hpp"
#include "libgdr/dense/compensated_sums.hpp"
#include "libgdr/dense/prediction.hpp"
#include "libgdr/dense/tiles.hpp"
#include "libgdr/device/core.hpp"

namespace gdr {
namespace dense {

/// beta C, where C is not read if beta is zero.
inline double scaled(double beta, double c) noexcept { return beta == 0 ? 0 : beta * c; }

/// One product after another on the boards of a device.
struct ProductRunner {
  struct Call {
    std::size_t m = 0, n = 0, k = 0;
    double alpha = 0, beta = 0;
    Factor a, b;
    std::variant<MatrixView<double>, MatrixView<float>> c;
    ElementFormat format = ElementFormat::Doubles;
    Reuse reuse = Reuse::Nothing;
  };

  /// Column block `index` of op(B) and C, which a run processes, and its address in the memories of
  /// the chips, words.
  struct ColumnBlock {
    std::size_t index = 0, first = 0, count = 0, address = 0;
    bool resident = false;  ///< all column blocks fit the memories at once
  };
  /// A factor of the last call, with `outer` rows or columns besides the inner dimension, streamed
  /// or divided into tiles.
  struct CachedFactor {
    Factor factor;
    std::size_t outer = 0, k = 0;
    std::vector<Part> parts;
    ElementFormat format{};
    bool streamed = true;
    friend bool operator==(const CachedFactor&, const CachedFactor&) = default;
  };
  /// The number by which the cached contents of boards identify a factor.
  struct Generation {
    std::uint64_t number = 0;
    std::optional<CachedFactor> cached;
  };
  /// A run of the list: rows of C from `row` on, the first or last pass of the inner dimension.
  struct PendingRun {
    std::size_t row = 0;
    bool first = true, last = true;
  };
  /// The product on one board, with the list that is being built.
  struct BoardProduct {
    BoardSlot& slot;
    std::size_t payload_used = 0;  ///< words in use of the list's payload, which never shrinks
    std::vector<PendingRun> pending = {};  ///< runs of the list
    CompensatedSums sums = {};
  };

  /// Throws Error (Unsupported) for a geometry without a tile.
  ProductRunner(std::shared_ptr<DeviceCore> device, MatrixPrecision wanted);
  ProductRunner(const ProductRunner&) = delete;
  ProductRunner& operator=(const ProductRunner&) = delete;
  ~ProductRunner() { core->queue.cancel(work); }

  /// Link words of a column in a chip.
  std::size_t chip_words() const { return mapping.words; }
  /// Inner indices of a chip in this call.
  std::size_t chip_depth() const { return mapping.depth; }
  /// Chips that a product uses: fewer than all for a short inner dimension.
  unsigned chips(const InnerDimension& inner) const {
    const std::size_t needed = (inner.k + chip_depth() - 1) / chip_depth();
    return static_cast<unsigned>(std::min<std::size_t>(needed, core->geometry.chips_per_board));
  }
  /// Inner indices of a run.
  std::size_t pass_depth(const InnerDimension& inner) const { return chips(inner) * chip_depth(); }

  /// Checks the arguments and handles cases without a product; returns whether the device has to
  /// compute.
  template <typename Number>
  bool prepare(std::size_t m, std::size_t n, std::size_t k, double alpha,
               const MatrixView<const Number>& a, const MatrixView<const Number>& b, double beta,
               const MatrixView<Number>& c, Reuse reuse);
  /// The faster exact element format for the floats of this call. The choice, and so the result's
  /// bits, depend on the elements, the inner dimension and the geometry only.
  ElementFormat float_format() const;
  const Kernel& kernel() const { return product_kernel(call.format); }
  /// Whether the boards compute; false for boards that only apply the time model.
  bool needs_data() const { return core->boards.front().board->needs_data(); }
  void run();
  /// Exchanges the factors' roles if A is to be resident and does not fit the PEs. Products and
  /// sums stay the same, in the same order. Returns whether it did.
  bool swap_operands(InnerDimension& inner);
  void update_generation(Generation& generation, CachedFactor now);
  std::size_t blocks_used(const InnerDimension& inner, std::size_t first) const;
  std::vector<std::size_t> tile_order(const BoardProduct& board,
                                      const std::vector<std::size_t>& left, std::size_t first,
                                      std::size_t step);
  void load_program(BoardProduct& board);
  void ensure_columns(BoardProduct& board, const InnerDimension& inner, const ColumnBlock& columns);
  void multiply_columns(const InnerDimension& inner, const ColumnBlock& columns);
  void send_columns(BoardProduct& board, const InnerDimension& inner, const ColumnBlock& columns);
  void send_tile(BoardProduct& board, const InnerDimension& inner, std::size_t row,
                 std::size_t first);
  void add_tile(BoardProduct& board, const InnerDimension& inner, std::size_t row,
                const ColumnBlock& columns);
  void fetch_results(BoardProduct& board, const ColumnBlock& columns);
  struct Parts;
  const double* sum_parts(BoardProduct& board, const Parts& parts, std::size_t column, double* to);
  template <typename Number>
  void store(const MatrixView<Number>& c, BoardProduct& board, const Parts& parts,
             const ColumnBlock& columns);
  std::uint64_t* reserve_payload(BoardProduct& board, std::size_t words);
  Command& add(BoardProduct& board, CommandKind kind, std::uint64_t chips) const;
  void execute(BoardProduct& board);

  std::shared_ptr<DeviceCore> core;
  MatrixPrecision precision;
  std::uint64_t number;                   ///< number among the device's jobs
  std::uint64_t generation_count = 0;     ///< number of generations so far
  Generation generation_a, generation_b;  ///< generations of the caller's A and B
  std::uint64_t streamed_generation = 0;  ///< generation of the streamed factor of this call
  std::uint64_t tiled_generation = 0;     ///< generation of the tiled factor of this call
  std::atomic<bool> invalidated = false;  ///< set by invalidate(), also during a background call
  BoardMapping mapping;                   ///< mapping of the call's product to a board
  FactorClock* clock = nullptr;           ///< gets the time of the host for boards without data
  Work work;
  std::stop_token stop;  ///< stop token of the running call
  Call call;
  std::vector<char> tile_done;  ///< by tile: rows of C stored, for this column block
};

}  // namespace dense

struct MatrixProduct::Impl : dense::ProductRunner {
  using ProductRunner::ProductRunner;
};

}  // namespace gdr
