// The sums over the factors of one block, of eight PEs and some items: loop ir and the
// micro-kernels of exact products (exact.hpp has the proof).
#pragma once

#include <type_traits>

#include "emulator/engine/matmul/cpu/exact_tree.hpp"

namespace gdr {

/// `Host`: vectors of the instruction set. Vectors of mr PEs and nr items are in the registers.
template <class Host>
class ExactBlock {
 public:
  using V = typename Host::V;
  using Pairs = ExactPairs<Host>;
  using Leaves = typename ExactTree<Host>::Leaves;
  static constexpr std::size_t mr = Host::width, nr = exact_nr;

  /// What the heads of sums are multiples of.
  struct Grid {
    int exponent = 0;       ///< g of the grid
    double grid = 0;        ///< 1.5 2^(g+52)
    double join_least = 0;  ///< 2^e of the least exponent at which sums of blocks round
  };
  static Grid grid_of(int g) { return {g, 1.5 * Host::power(g + 52), 0}; }

  /// Properties of a block's sums.
  struct Outcome {
    bool zero = false;   ///< whether some are zero: their signs are to be set
    bool small = false;  ///< whether some are below Grid::join_least: not to be joined on the grid
  };

  /// `exponents`: memory for `depth` x nr x mr doubles. `log_depth`: log2 of the products.
  ExactBlock(std::size_t depth, int log_depth, double* exponents)
      : depth_(depth), log_depth_(log_depth), exponents_(exponents) {}

  /// Loop ir: vectors of mr PEs of a panel. `numbers` are [factor][PE], `items` [factor][item],
  /// their products have exponents from `least` on.
  Outcome loop_ir(const double* numbers, const double* items, const Grid& grid, int least,
                  const Leaves& to) {
    const ExponentMode mode =
        least < grid.exponent + 17 + log_depth_ ? ExponentMode::Clamped : ExponentMode::Plain;
    const Bounds bounds{grid, Host::power(least)};
    Outcome outcome;
    for (std::size_t at = 0; at < panel_lanes; at += mr) {
      const Place place{numbers + at, to.high + at, to.low + at};
      if (Host::has_exponent_estimates && mode == ExponentMode::Plain && until_estimate_ == 0) {
        if (micro_kernel<ExponentMode::Estimated>(place, items, bounds, outcome)) continue;
        until_estimate_ = sums_between_estimates;  // where one fails others will
      }
      if (until_estimate_ > 0) --until_estimate_;
      if (mode == ExponentMode::Plain)
        micro_kernel<ExponentMode::Plain>(place, items, bounds, outcome);
      else
        micro_kernel<ExponentMode::Clamped>(place, items, bounds, outcome);
    }
    return outcome;
  }

  /// The same for any exponents, by two-sums. `beyond`: above those of all products.
  void loop_ir_in_pairs(const double* numbers, const double* items, double beyond,
                        const Leaves& to) const {
    const V limit = Host::all(beyond);
    for (std::size_t at = 0; at < panel_lanes; at += mr) {
      for (std::size_t j = 0; j < nr; ++j) {
        typename Pairs::Pair s{};
        for (std::size_t k = 0; k < depth_; ++k) {
          const V a = Host::load(numbers + k * panel_lanes + at);
          const V b = Host::all(items[k * nr + j]);
          const V p = Host::mul(a, b), e = Host::exponent_of_product(a, b, limit);
          const V rest = Host::fms(a, b, p);
          const typename Pairs::Pair product{p, Pairs::rounded(rest, e)};
          s = k == 0 ? product : Pairs::sum61(s, product);
        }
        to.store(j * panel_lanes + at, s);
      }
    }
  }

 private:
  /// Sums without an estimate after one whose exponents could not be estimated.
  static constexpr unsigned sums_between_estimates = 64;
  static constexpr double rounder = Pairs::rounder;

  /// How exponents are found.
  enum class ExponentMode {
    Plain,
    /// Sums may be so much smaller than the products that their rounding constant would be below
    /// their tails: then the smallest product's is used, below which nothing is rounded.
    Clamped,
    /// From values rounded to nearest: wrong only where rounding gives a power of two.
    Estimated,
  };
  /// Factors of one vector of PEs, and the destination of their sums.
  struct Place {
    const double* numbers;
    double *high, *low;
  };
  struct Bounds {
    const Grid& grid;
    double least;  ///< 2^e of the smallest product
  };

  /// The rounding of a product is interleaved with the sum of the previous one. Heads and tails are
  /// stored separately, to be joined. False if an estimated exponent may be wrong; then nothing is
  /// stored.
  template <ExponentMode mode>
  bool micro_kernel(const Place& place, const double* items, const Bounds& bounds,
                    Outcome& outcome) {
    constexpr bool clamped = mode == ExponentMode::Clamped;
    const double* const numbers = place.numbers;
    const V grid = Host::all(bounds.grid.grid), least = Host::all(bounds.least);
    const V c = Host::all(rounder);
    V h[nr], l[nr], head[nr], tail[nr];
    [[maybe_unused]] V inexact = Host::all(0);
    const auto to_grid = [&](V sum, V tails) {
      if constexpr (mode == ExponentMode::Estimated && Host::has_exponent_estimates)
        return Host::estimate_exponent(Host::add(sum, tails), inexact);
      const V e = Host::exponent_of_sum(sum, tails);
      return clamped ? Host::max(e, least) : e;
    };
    if constexpr (Host::exponents_ahead && mode != ExponentMode::Estimated)
      Host::template exponents<nr>(numbers, items, depth_, exponents_);
    // The product of factors k, interleaved with the rounding of a sum if `rounding`.
    const auto step = [&](std::size_t k, auto rounding) __attribute__((always_inline)) {
      const V a = Host::load(numbers + k * panel_lanes);
      V b[nr], e[nr], s[nr];
#pragma GCC unroll 4
      for (std::size_t j = 0; j < nr; ++j) b[j] = Host::all(items[k * nr + j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < nr; ++j)
        if constexpr (mode == ExponentMode::Estimated && Host::has_exponent_estimates)
          e[j] = Host::estimate_exponent(Host::mul(a, b[j]), inexact);
        else if constexpr (Host::exponents_ahead)
          e[j] = Host::load(exponents_ + (k * nr + j) * mr);
        else
          e[j] = Host::exponent_of_product(a, b[j]);
      if constexpr (rounding) {
#pragma GCC unroll 4
        for (std::size_t j = 0; j < nr; ++j) h[j] = Host::add(h[j], head[j]);
#pragma GCC unroll 4
        for (std::size_t j = 0; j < nr; ++j) l[j] = Host::add(l[j], tail[j]);
      }
#pragma GCC unroll 4
      for (std::size_t j = 0; j < nr; ++j) head[j] = Host::fma(a, b[j], grid);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < nr; ++j) head[j] = Host::sub(head[j], grid);
      if constexpr (rounding) {
#pragma GCC unroll 4
        for (std::size_t j = 0; j < nr; ++j) s[j] = to_grid(h[j], l[j]);
      }
      // P - head rounded to 2^(e-60): a b - head is exact and fits rounder 2^e.
#pragma GCC unroll 4
      for (std::size_t j = 0; j < nr; ++j) tail[j] = Host::fms(e[j], c, head[j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < nr; ++j) tail[j] = Host::fma(a, b[j], tail[j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < nr; ++j) tail[j] = Host::fnma(e[j], c, tail[j]);
      if constexpr (rounding) {
#pragma GCC unroll 4
        for (std::size_t j = 0; j < nr; ++j) l[j] = Host::fma(s[j], c, l[j]);
#pragma GCC unroll 4
        for (std::size_t j = 0; j < nr; ++j) l[j] = Host::fnma(s[j], c, l[j]);
      }
    };
#pragma GCC unroll 4
    for (std::size_t j = 0; j < nr; ++j) h[j] = l[j] = Host::all(0);
    step(0, std::false_type{});
    for (std::size_t k = 1; k < depth_; ++k) step(k, std::true_type{});
    if constexpr (mode == ExponentMode::Estimated && Host::has_exponent_estimates)
      if (Host::any(inexact)) return false;
#pragma GCC unroll 4
    for (std::size_t j = 0; j < nr; ++j) {
      const V heads = Host::add(h[j], head[j]), tails = Host::add(l[j], tail[j]);
      const V exact = Host::exponent_of_sum(heads, tails);
      const V e = clamped ? Host::max(exact, least) : exact;
      outcome.zero |= Host::any(Host::zero(exact));
      // Without the clamp, tails are multiples of the smallest product's last place, which
      // suffices.
      if (clamped && Host::any(Host::less(e, Host::all(bounds.grid.join_least))))
        outcome.small = true;
      Host::store(place.high + j * panel_lanes, heads);
      Host::store(place.low + j * panel_lanes, Host::fnma(e, c, Host::fma(e, c, tails)));
    }
    return true;
  }

  const std::size_t depth_;
  const int log_depth_;
  /// [factor][item][PE]: exponents of the products of one vector, if computed in advance.
  double* const exponents_;
  unsigned until_estimate_ = 0;  ///< number of sums until the next estimate
};

}  // namespace gdr
