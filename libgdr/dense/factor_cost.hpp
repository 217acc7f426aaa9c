// What the steps of a factorisation cost on a host and its boards: the pieces that predictions of
// LU on one board and of HPL on many nodes are put together from.
#pragma once

#include <cstddef>

#include "libgdr/dense/host_model.hpp"
#include "libgdr/dense/prediction.hpp"

namespace gdr::dense {

/// Seconds of steps on the host. A step takes the larger of its operations and its memory traffic.
class HostCost {
 public:
  explicit HostCost(const HostRates& rates = {}) : rates_(rates) {}

  double work(double flops, double bytes) const noexcept;
  /// C -= A B, C being m x n: C is read and written, the factors are read once.
  double product(std::size_t m, std::size_t n, std::size_t k) const noexcept;
  /// Triangle of n rows with `others` right-hand sides.
  double triangle(std::size_t n, std::size_t others) const noexcept;
  /// Exchanges of `pivots` pairs of rows in that many columns.
  double exchange(std::size_t pivots, std::size_t columns) const noexcept;
  /// LU of m x n by halves (panel.cpp).
  double panel(std::size_t m, std::size_t n) const noexcept;
  /// Results of a board, m x n, come in and are added to C.
  double additions(std::size_t m, std::size_t n) const noexcept;

 private:
  HostRates rates_;
};

/// A step of the host alone.
inline StepCost host_step(double seconds) noexcept { return {seconds, seconds}; }

/// A host with boards that it shares the tiles of a product out to; without any it works alone.
/// Products reach no more than `product_share` of the boards' peak.
class FactorCost {
 public:
  FactorCost(const Geometry& geometry, const BoardRates& rates, const HostRates& host,
             unsigned boards = 1, double product_share = 1)
      : geometry_(geometry),
        rates_(rates),
        host_(host),
        boards_(boards),
        product_share_(product_share),
        mapping_(network_mapping(geometry)) {}

  const HostCost& host() const noexcept { return host_; }
  /// Whether a product goes to the boards, as the library decides it.
  bool on_device(std::size_t m, std::size_t n, std::size_t k) const noexcept;
  /// Until the last board has done its tiles.
  StepCost board_product(std::size_t m, std::size_t n, std::size_t k) const;
  /// C -= A B, wherever it is done, with all that belongs to it.
  StepCost subtract(std::size_t m, std::size_t n, std::size_t k) const;
  /// Triangle of n rows whose updates go to the boards.
  StepCost triangle(std::size_t n, std::size_t others) const;

 private:
  Geometry geometry_;
  BoardRates rates_;
  HostCost host_;
  unsigned boards_;
  double product_share_;
  BoardMapping mapping_;
};

}  // namespace gdr::dense
