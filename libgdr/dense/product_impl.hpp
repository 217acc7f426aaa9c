// The implementation of MatrixProduct: the call that runs, and the command lists for the boards.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "gdr/matrix.hpp"
#include "libgdr/dense/prediction.hpp"
#include "libgdr/dense/sums.hpp"
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
    Held held = Held::Doubles;
    Unchanged unchanged = Unchanged::Nothing;
  };

  /// Of op(B) and C, that a run takes: stretch `index` of a product, and where the memories of the
  /// chips have it.
  struct Columns {
    std::size_t index = 0, first = 0, count = 0, place = 0;
    bool stay = false;  ///< all stretches have places of their own
  };
  /// A factor as the last call had it: with as many rows or columns, not inner ones, as `others`
  /// says, streaming by or cut into tiles.
  struct Kept {
    Factor factor;
    std::size_t others = 0, k = 0;
    std::vector<Part> parts;
    Held held{};
    bool streams = true;
    friend bool operator==(const Kept&, const Kept&) = default;
  };
  /// What boards remember it by.
  struct Generation {
    std::uint64_t number = 0;
    std::optional<Kept> kept;
  };
  /// A run over them: rows of C from `row` on, the first or last part of the inner dimension.
  struct Pending {
    std::size_t row = 0;
    bool first = true, last = true;
  };
  /// A product on one board: the list that is being written for it.
  struct OnBoard {
    BoardSlot& slot;
    std::size_t payload_used = 0;       ///< of the list's payload, which is never made smaller
    std::vector<Pending> pending = {};  ///< runs of the list
    Sums sums = {};
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
  /// Chips that a product needs: a short inner dimension leaves some out.
  unsigned chips(const Inner& inner) const {
    const std::size_t needed = (inner.k + chip_depth() - 1) / chip_depth();
    return static_cast<unsigned>(std::min<std::size_t>(needed, core->geometry.chips_per_board));
  }
  /// Inner indices of a run.
  std::size_t pass_depth(const Inner& inner) const { return chips(inner) * chip_depth(); }

  /// Checks, and what the host does alone; false where nothing is left for the device.
  template <typename Number>
  bool prepare(std::size_t m, std::size_t n, std::size_t k, double alpha,
               const MatrixView<const Number>& a, const MatrixView<const Number>& b, double beta,
               const MatrixView<Number>& c, Unchanged unchanged);
  /// The faster way for the floats of this call, of those that keep them whole. It follows from
  /// them, the inner dimension and the geometry alone, and so do the bits.
  Held held_floats() const;
  const Kernel& kernel() const { return product_kernel(call.held); }
  /// The boards compute; false where they only apply the time model.
  bool needs_data() const { return core->boards.front().board->needs_data(); }
  void run();
  /// Exchanges the factors' roles if A is to stay and the PEs do not hold all of it. Products and
  /// sums are those of before, in the same order.
  bool turn(Inner& inner);
  void keep(Generation& generation, Kept now);
  std::size_t blocks_of(const Inner& inner, std::size_t first) const;
  std::vector<std::size_t> order(const OnBoard& on, const std::vector<std::size_t>& left,
                                 std::size_t first, std::size_t step);
  void load(OnBoard& on);
  void need_columns(OnBoard& on, const Inner& inner, const Columns& columns);
  void stretch(const Inner& inner, const Columns& columns);
  void send_columns(OnBoard& on, const Inner& inner, const Columns& columns);
  void send_tile(OnBoard& on, const Inner& inner, std::size_t row, std::size_t first);
  void add_tile(OnBoard& on, const Inner& inner, std::size_t row, const Columns& columns);
  void collect(OnBoard& on, const Columns& columns);
  struct Parts;
  const double* sum_up(OnBoard& on, const Parts& parts, std::size_t column, double* to);
  template <typename Number>
  void store(const MatrixView<Number>& c, OnBoard& on, const Parts& parts, const Columns& columns);
  std::uint64_t* room(OnBoard& on, std::size_t words);
  Command& add(OnBoard& on, CommandKind kind, std::uint64_t chips) const;
  void execute(OnBoard& on);

  std::shared_ptr<DeviceCore> core;
  MatrixPrecision precision;
  std::uint64_t number;                 ///< among the device's jobs
  std::uint64_t generations = 0;        ///< so far
  Generation of_a, of_b;                ///< as the caller names them
  std::uint64_t streaming = 0;          ///< generation of what streams by in this call
  std::uint64_t tiled = 0;              ///< and of what is cut into tiles
  std::atomic<bool> forgotten = false;  ///< whatever runs in the background meanwhile
  BoardMapping mapping;                 ///< how the call's product lies on a board
  Work work;
  std::stop_token stop;  ///< of the call that runs
  Call call;
  std::vector<char> stored;  ///< by tile: its rows of C are there, in this stretch
};

}  // namespace dense

struct MatrixProduct::Impl : dense::ProductRunner {
  using ProductRunner::ProductRunner;
};

}  // namespace gdr
