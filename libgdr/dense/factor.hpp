// Blocked factorisations: their steps on the host, and trailing updates on a device.
//
// The same code computes a factorisation or predicts its time (prediction.hpp): with a clock in
// place of the host's threads every step only adds its time, and matrices may be null pointers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "gdr/linear.hpp"
#include "libgdr/dense/direct_factor.hpp"
#include "libgdr/dense/prediction.hpp"
#include "libgdr/device/self_test.hpp"

namespace gdr::dense {

/// What executes the steps of the host.
struct Host {
  unsigned threads = 1;
  FactorClock* clock = nullptr;  ///< clock that counts the steps instead; null: they are executed
  /// Whether products are those of an engine that computes in the host's numbers (host/direct.hpp);
  /// else they have the same bits on every host.
  bool direct = false;
  Isa isa = Isa::Portable;  ///< instruction set of such an engine

  /// Begins a phase of a factorisation.
  void begin(double LuTime::*phase) const noexcept {
    if (clock != nullptr) clock->begin(phase);
  }
};

/// The functions for the steps of this host.
inline const FactorFunctions& factor_functions(const Host& host) noexcept {
  return host.direct ? direct_set(host.isa).factor : host_functions().factor;
}

/// A function that computes C -= op(A) op(B), or a part of it if the host multiplies directly.
using Subtract = std::function<void(
    std::size_t m, std::size_t n, std::size_t k, const MatrixView<const double>& a,
    const MatrixView<const double>& b, const MatrixView<double>& c, DirectPart part)>;

/// C -= op(A) op(B) on the host, with the same bits for any number of threads. C must not overlap
/// the factors.
void subtract_on_host(std::size_t m, std::size_t n, std::size_t k,
                      const MatrixView<const double>& a, const MatrixView<const double>& b,
                      const MatrixView<double>& c, const Host& host,
                      DirectPart part = DirectPart::All);
/// The same as a function.
Subtract subtract_on(const Host& host);

/// Exchanges row i with row pivots[i] in n columns, i = 0, 1, ...
void exchange_rows(std::size_t n, const MatrixView<double>& a, std::span<const std::int64_t> pivots,
                   const Host& host);
/// Reverses exchange_rows: from the last pivot to the first.
void restore_rows(std::size_t n, const MatrixView<double>& a, std::span<const std::int64_t> pivots,
                  const Host& host);

/// A triangular matrix op(T) of `n` rows.
struct TriangularMatrix {
  std::size_t n = 0;
  bool lower = true;  ///< whether op(T) is lower triangular
  bool unit = false;  ///< whether the diagonal is implicitly one
  MatrixView<const double> view;
};

/// Solves op(T) X = B (Left) or X op(T) = B (Right); B has `others` columns, or rows, and is
/// overwritten with X. Recursive: products by `subtract`, small triangles by substitution on the
/// host.
void solve_triangle(Side side, const TriangularMatrix& t, std::size_t others,
                    const MatrixView<double>& b, const Subtract& subtract, const Host& host);

/// Default number of columns of a panel (LinearOptions::block); `depth` is the inner dimension of
/// one pass of a board. In wider panels the host's work exceeds that of the board, also of one with
/// more than four chips.
constexpr std::size_t panel_columns(std::size_t n, std::size_t depth) noexcept {
  constexpr std::size_t least = 64, most = 2048, multiple = 32;
  const std::size_t eighth = (n / 8 + multiple - 1) / multiple * multiple;
  return std::min({std::max(eighth, least), std::max(depth, least), most});
}

/// P A = L U of m rows and pivots.size() <= m columns, in place and recursively, with products by
/// `subtract`; pivots count rows of this panel. Returns the column of the first pivot that is
/// exactly zero.
std::optional<std::size_t> factor_panel(std::size_t m, const MatrixView<double>& a,
                                        std::span<std::int64_t> pivots, const Subtract& subtract,
                                        const Host& host);
/// The same on the host alone.
inline std::optional<std::size_t> factor_panel(std::size_t m, const MatrixView<double>& a,
                                               std::span<std::int64_t> pivots, const Host& host) {
  return factor_panel(m, a, pivots, subtract_on(host), host);
}

/// Whether a product is computed on the device: from `flops` operations on
/// (LinearOptions::device_flops), if at least a sixteenth of its tiles is filled, below which a
/// board of 800 Gflops is not faster than its host. `depth` is that of panel_columns.
bool device_pays(std::size_t m, std::size_t n, std::size_t k, std::size_t depth,
                 double flops) noexcept;

/// Updates C -= op(A) op(B) on the device if that is faster, else on the host; it depends on the
/// size only.
class Updates {
 public:
  Updates(Device& device, MatrixPrecision precision, double device_flops)
      : product_(std::in_place, device, precision), device_flops_(device_flops) {
    host_.threads = core_of(device)->threads;  // the share of a queue
    host_.direct = multiplies_arrays(*core_of(device));
    host_.isa = direct_isa(*core_of(device));
  }
  /// Updates that only count time.
  explicit Updates(FactorClock& clock) { host_.clock = &clock; }

  void subtract(std::size_t m, std::size_t n, std::size_t k, const MatrixView<const double>& a,
                const MatrixView<const double>& b, const MatrixView<double>& c,
                DirectPart part = DirectPart::All);
  /// Subtracts in the background if on the device; `wait` must be called before any other function.
  void start(std::size_t m, std::size_t n, std::size_t k, const MatrixView<const double>& a,
             const MatrixView<const double>& b, const MatrixView<double>& c);
  void wait();
  /// `subtract` as a function, which refers to this object.
  Subtract subtract_function();
  /// The products inside panels: on the host, since the device is busy with other products, or as
  /// `subtract` if the host is the device.
  Subtract subtract_in_panels() { return host_.direct ? subtract_function() : subtract_on(host_); }

  /// The product on the device; not for updates that only count time.
  MatrixProduct& product() noexcept { return *product_; }
  const MatrixProduct& product() const noexcept { return *product_; }
  const Host& host() const noexcept { return host_; }

 private:
  bool on_device(std::size_t m, std::size_t n, std::size_t k) const noexcept;

  std::optional<MatrixProduct> product_;
  double device_flops_ = 0;
  Host host_;
};

/// The clock after some steps, a function of Updates.
template <typename Steps>
FactorClock clock_after(FactorClock clock, const Steps& steps) {
  Updates updates(clock);
  steps(updates);
  return clock;
}

// If the host is the device, it computes all products with all of its threads, one after the other,
// and `overlap` has no effect.

/// LinearSolver::lu with panels of `block` columns; pivots has min(m, n) elements.
std::optional<std::size_t> factor_lu(std::size_t m, std::size_t n, const MatrixView<double>& a,
                                     std::span<std::int64_t> pivots, std::size_t block,
                                     bool overlap, Updates& updates);

/// LinearSolver::cholesky with panels of `block` columns. Not with a clock.
std::optional<std::size_t> factor_cholesky(Triangle triangle, std::size_t n,
                                           const MatrixView<double>& a, std::size_t block,
                                           bool overlap, Updates& updates);

}  // namespace gdr::dense
