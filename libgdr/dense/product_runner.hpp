// The implementation of MatrixProduct: the call that runs, and the command lists for the boards.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "gdr/matrix.hpp"
#include "libgdr/dense/host/direct.hpp"
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
    DirectPart part =
        DirectPart::All;  ///< part of a product that is computed from the caller's arrays
  };

  /// Column block `index` of op(B) and C, which a run processes, and its address in the memories of
  /// the chips, words.
  struct ColumnBlock {
    std::size_t index = 0, first = 0, count = 0, address = 0;
    bool resident = false;  ///< whether all column blocks fit the memories at once
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
  /// The revision by which the cached contents of boards identify a factor.
  struct FactorVersion {
    Revision revision = 0;
    std::optional<CachedFactor> cached;
  };

  /// Throws Error (Unsupported) for a geometry without a tile.
  ProductRunner(std::shared_ptr<DeviceCore> device, MatrixPrecision wanted);
  ProductRunner(const ProductRunner&) = delete;
  ProductRunner& operator=(const ProductRunner&) = delete;
  ~ProductRunner() { core->queue.cancel(work); }

  /// Chips that the call uses: fewer than all for a short inner dimension.
  unsigned chips() const {
    const std::size_t needed = (inner.k + mapping.depth - 1) / mapping.depth;
    return static_cast<unsigned>(std::min<std::size_t>(needed, core->geometry.chips_per_board));
  }
  /// Inner indices of a run.
  std::size_t pass_depth() const { return chips() * mapping.depth; }

  /// Checks the arguments and handles cases without a product; returns whether the device has to
  /// compute.
  template <typename Number>
  bool prepare(std::size_t m, std::size_t n, std::size_t k, double alpha,
               const MatrixView<const Number>& a, const MatrixView<const Number>& b, double beta,
               const MatrixView<Number>& c, Reuse reuse);
  /// The faster exact element format for the floats of this call. The choice, and so the result's
  /// bits, depend on the elements, the inner dimension and the geometry only.
  ElementFormat float_format() const;
  /// Whether the boards compute; false for boards that only apply the time model, also for a
  /// product that is computed from the caller's arrays.
  bool needs_data() const { return !direct && core->boards.front().board->needs_data(); }
  /// Computes the call's product from the caller's arrays.
  void multiply_arrays() const;
  void run();
  /// Exchanges the factors' roles if A is to be resident and does not fit the PEs. Products and
  /// sums stay the same, in the same order. Returns whether it did.
  bool swap_operands();
  static void update_version(FactorVersion& version, CachedFactor now);
  void loop_jc();
  void loop_ic();
  /// Computes some tiles of C for the columns of the block on one board (product_board.cpp).
  void multiply_on_board(BoardSlot& slot, std::vector<std::size_t> tiles);

  std::shared_ptr<DeviceCore> core;
  MatrixPrecision precision;
  /// Whether products are computed from the caller's arrays, and the boards only count their work.
  const bool direct;
  const Isa isa;                          ///< instruction set of such products
  FactorVersion version_a, version_b;     ///< versions of the caller's A and B
  Revision streamed_revision = 0;         ///< revision of the streamed factor of this call
  Revision tiled_revision = 0;            ///< revision of the tiled factor of this call
  std::atomic<bool> invalidated = false;  ///< set by invalidate(), also during a background call
  BoardMapping mapping;                   ///< mapping of the call's product to a board
  FactorClock* clock = nullptr;           ///< gets the time of the host for boards without data
  Work work;
  std::stop_token stop;  ///< stop token of the running call
  Call call;
  InnerDimension inner;  ///< inner dimension of the call
  ColumnBlock columns;
  std::vector<char> tile_done;  ///< whether the rows of C of a tile are stored, indexed by tile,
                                ///< for this column block
};

}  // namespace dense

struct MatrixProduct::Impl : dense::ProductRunner {
  using ProductRunner::ProductRunner;
};

}  // namespace gdr
