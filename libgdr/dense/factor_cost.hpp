// Costs of the steps of a factorisation on a host and its boards, for predictions of LU on one
// board and of HPL on many nodes.
#pragma once

#include <cstddef>

#include "libgdr/dense/host_model.hpp"
#include "libgdr/dense/prediction.hpp"

namespace gdr::dense {

/// Times of steps on the host, seconds: the larger of the times of arithmetic and memory traffic.
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
  /// Recursive LU of m x n (panel.cpp).
  double panel(std::size_t m, std::size_t n) const noexcept;
  /// Addition of a board's m x n results to C.
  double additions(std::size_t m, std::size_t n) const noexcept;

 private:
  HostRates rates_;
};

/// Cost of a step on the host.
inline StepCost host_step(double seconds) noexcept { return {seconds, seconds}; }

/// Costs on a host with boards, over which the tiles of a product are distributed, or without
/// boards. Products reach at most `product_share` of the boards' peak.
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
  /// Whether the library computes a product on the boards.
  bool on_device(std::size_t m, std::size_t n, std::size_t k) const noexcept;
  /// Time of a product on the boards, until the last one finishes.
  StepCost board_product(std::size_t m, std::size_t n, std::size_t k) const;
  /// C -= A B on host or boards, including the additions.
  StepCost subtract(std::size_t m, std::size_t n, std::size_t k) const;
  /// Triangular solve of n rows with updates on the boards.
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
