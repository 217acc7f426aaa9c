// The machine's sums of products in the host's doubles.
//
// A long s (61 bits) is a pair of doubles, s = h + l. Each step of the machine rounds once: the
// product P = a b of two factors of 50 bits, and the sum S = s + P. Both roundings are done where
// it is cheap, on the small part: with e the exponent of the exact value, a number in the middle of
// the binade [2^(e-8), 2^(e-7)), where doubles are 2^(e-60) apart, is added to it and subtracted
// again. e itself comes from a product or sum that is rounded towards zero.
//
// Values must be split so that heads add up exactly. All heads of a block's sum are on one grid: h
// is a multiple of 2^g, and so is the head p of a product, which is P rounded to the grid. With
// exponents of the factors up to ea and eb, and 2^d the number of products, |h| stays at most
// 2^(ea+eb+d+2), so g = ea + eb + d - 51 makes every h + p exact. Tails are below 2^(g+d), and at
// least 2^(e-9) of the smallest product (exponent e >= g + d + 9) must be above that for the
// rounding of tails; then all tails are multiples of 2^(e-60) below 2^(g+d), and add up exactly,
// too. So the exponents of a and b together may range over 42 - 2 d. For wider ranges Knuth's
// two-sum replaces the grid. Infinities, NaN and numbers near the ends of the range are computed on
// integers.
//
// Sums of blocks have one grid if possible: with 2^D products in all of them, g = ea + eb + D - 51
// with the largest exponents of all. All tails are then below 2^(g+D). With t = g + D + 9, a
// rounding from exponent t on reaches over any of them, and where each block's sum has been rounded
// at 2^(t-60) or higher up, all tails are multiples of that, and a sum that is smaller than 2^t
// needs no rounding. So nodes round from exponent t at least. Blocks whose sum is smaller, or whose
// products range wider, are joined by two-sums.
//
// A sum may be smaller than the smallest product, down to 2^(e-60) of it, where products cancel. It
// needs no rounding then, and must not be harmed by it: with e >= g + d + 17 what rounds and a tail
// always fit a double together; with less the exponent of the smallest product takes its place.
#pragma once

#include <type_traits>

#include "emulator/engine/matmul/cpu/kernels.hpp"

namespace gdr {

/// `Host`: vectors of the instruction set (see exact_avx512.cpp).
template <class Host>
class ExactMatmul {
 public:
  static std::size_t scratch(const MatmulTask& t) {
    return groups(t) * group_size(t) + ranges_size(t) + least_size(t) +
           (t.factors.blocks + t.factors.chips) * Leaves::size + t.factors.depth * unroll * width;
  }

  static std::uint64_t run(const MatmulTask& t) {
    ExactMatmul work(t);
    work.gather_columns();
    for (std::size_t panel = 0; panel < t.factors.panels; ++panel) {
      if (t.factors.zeros[panel] != 0 && panel != t.factors.first_of_zeros) continue;
      for (std::size_t group = 0; group < groups(t); ++group) work.add_up(panel, group);
    }
    return work.fallback_sums_;
  }

  /// MatmulKernels::gather: the leading 50 bits, with the range of exponents.
  static void gather(const LongRow& row) {
    for (std::size_t panel = 0; panel < row.panels; ++panel) {
      const std::uint64_t* const upper = row.upper + panel * panel_lanes;
      const std::uint64_t* const lower = row.lower + panel * panel_lanes;
      std::uint64_t words[panel_lanes], low[panel_lanes], high[panel_lanes];
      for (std::size_t i = 0; i < panel_lanes; ++i) {
        const std::uint64_t bits = long_factor(upper[i], lower[i]), e = bits >> 52 & 2047;
        words[i] = e == 2047 ? bits : bits & ~std::uint64_t{7};
        low[i] = e == 0 ? 2047 : e;
        high[i] = e;
      }
      __builtin_memcpy(row.to + panel * row.step, words, sizeof words);
      ExponentRange& range = row.ranges[panel * row.range_step];
      std::int32_t least = last_exponent;
      for (std::size_t i = 0; i < panel_lanes; ++i) {
        const auto l = static_cast<std::int32_t>(low[i]), h = static_cast<std::int32_t>(high[i]);
        least = l < least ? l : least;
        range.most = h > range.most ? h : range.most;
      }
      range.least = least < range.least ? least : range.least;
      row.least[panel * row.least_step] = static_cast<std::int16_t>(least);
    }
  }

 private:
  using V = typename Host::V;
  using M = typename Host::M;
  static constexpr std::size_t width = Host::width;
  static constexpr std::size_t parts = panel_lanes / width;  ///< vectors of a panel
  static constexpr std::size_t unroll = 4;                   ///< interleaved columns

  static std::size_t groups(const MatmulTask& t) { return (t.columns + unroll - 1) / unroll; }
  static std::size_t blocks(const MatmulTask& t) { return t.factors.chips * t.factors.blocks; }
  static std::size_t group_size(const MatmulTask& t) {
    return blocks(t) * t.factors.depth * unroll;
  }
  static std::size_t ranges_size(const MatmulTask& t) { return whole_lines(groups(t) * blocks(t)); }
  static std::size_t least_size(const MatmulTask& t) {
    return whole_lines((groups(t) * blocks(t) * t.factors.depth + 3) / 4);
  }
  static std::size_t whole_lines(std::size_t doubles) { return (doubles + 7) / 8 * 8; }
  /// Sums without an estimate after one whose exponents could not be estimated.
  static constexpr unsigned sums_between_estimates = 64;
  static constexpr int bias = 1023;
  static_assert(4 * last_exponent < 32768, "sums of two exponents are shorts");

  struct Pair {
    V h, l;
  };

  /// Consecutive sums of blocks or chips, as pairs: [column][PE] of each.
  struct Leaves {
    static constexpr std::size_t pairs = unroll * panel_lanes, size = 2 * pairs;
    double *high, *low;

    explicit Leaves(double* at) : high(at), low(at + pairs) {}
    Leaves next(std::size_t n = 1) const { return Leaves(high + n * size); }
    Pair load(std::size_t at) const { return {Host::load(high + at), Host::load(low + at)}; }
    void store(std::size_t at, Pair sum) const {
      Host::store(high + at, sum.h);
      Host::store(low + at, sum.l);
    }
  };

  explicit ExactMatmul(const MatmulTask& t)
      : t_(t),
        items_(t.scratch),
        ranges_(reinterpret_cast<ExponentRange*>(items_ + groups(t) * group_size(t))),
        least_(reinterpret_cast<std::int16_t*>(ranges_ + ranges_size(t))),
        leaves_(items_ + groups(t) * group_size(t) + ranges_size(t) + least_size(t)),
        chip_leaves_(leaves_.next(t.factors.blocks)),
        exponents_(chip_leaves_.next(t.factors.chips).high) {
    static_assert(sizeof(ExponentRange) == sizeof(double));
    // The grid of fewer than four products could not hold a product and its rounding constant.
    log_depth_ = log_above(t.factors.depth < 4 ? 4 : t.factors.depth);
    log_all_ = log_depth_ + log_above(t.factors.blocks) + log_above(t.factors.chips);
  }

  static int log_above(std::size_t n) {
    int d = 0;
    while ((std::size_t{1} << d) < n) ++d;
    return d;
  }

  // --- interleaved columns, truncated to the multiplier's bits

  void gather_columns() {
    const std::size_t depth = t_.factors.depth;
    for (std::size_t g = 0; g < groups(t_); ++g) {
      for (std::size_t chip = 0; chip < t_.factors.chips; ++chip) {
        for (std::size_t block = 0; block < t_.factors.blocks; ++block) {
          const std::size_t at = chip * t_.factors.blocks + block;
          const std::uint64_t* columns[unroll];  // zeros where there is none
          for (std::size_t j = 0; j < unroll; ++j) {
            const std::size_t column = g * unroll + j;
            columns[j] = column < t_.columns
                             ? t_.records[column * t_.factors.chips + chip] + block * depth
                             : nullptr;
          }
          const std::size_t place = g * blocks(t_) + at;
          const ExponentRange range =
              Host::gather(columns, depth, items_ + place * depth * unroll, least_ + place * depth);
          ranges_[place] = range.least > range.most ? ExponentRange{} : range;
        }
      }
    }
  }

  // --- one panel, some columns

  void add_up(std::size_t panel, std::size_t group) {
    const std::size_t block_numbers = t_.factors.depth * panel_lanes;
    const std::size_t block_items = t_.factors.depth * unroll;
    const ExponentRange* a = t_.factors.ranges + panel * blocks(t_);
    const ExponentRange* b = ranges_ + group * blocks(t_);
    const std::int16_t* a_least = t_.factors.least + panel * blocks(t_) * t_.factors.depth;
    const std::int16_t* b_least = least_ + group * blocks(t_) * t_.factors.depth;
    const double* numbers = t_.factors.numbers + panel * blocks(t_) * block_numbers;
    const double* items = items_ + group * group_size(t_);
    bool beyond[unroll] = {};
    begin_joint(largest(a) + largest(b) - 2 * bias);
    Leaves chips = chip_leaves_;
    for (std::size_t chip = 0; chip < t_.factors.chips; ++chip) {
      Leaves leaf = leaves_;
      for (std::size_t block = 0; block < t_.factors.blocks; ++block) {
        add_up_block({numbers, items, a++, b++, a_least, b_least}, leaf, beyond);
        a_least += t_.factors.depth;
        b_least += t_.factors.depth;
        numbers += block_numbers;
        items += block_items;
        leaf = leaf.next();
      }
      join(t_.factors.blocks, leaves_, chips);
      chips = chips.next();
    }
    join(t_.factors.chips, chip_leaves_, leaves_);
    for (std::size_t j = 0; j < unroll; ++j) {
      const std::size_t column = group * unroll + j;
      if (column >= t_.columns) break;
      double* const to = t_.sums + (column * t_.factors.panels + panel) * panel_lanes;
      for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t from = j * panel_lanes + part * width;
        // Rounded to a double as at the port. (-0) + 0 would be +0.
        const V h = Host::load(leaves_.high + from), l = Host::load(leaves_.low + from);
        Host::store(to + part * width, Host::select(Host::zero(l), h, Host::add(h, l)));
      }
      if (!beyond[j]) continue;
      ++fallback_sums_;
      fallback_column({Host::isa, t_.factors, panel, items_ + group * group_size(t_) + j, unroll},
                      to);
    }
  }

  int largest(const ExponentRange* of_blocks) const {
    int most = 0;
    for (std::size_t at = 0; at < blocks(t_); ++at)
      if (of_blocks[at].most > most) most = of_blocks[at].most;
    return most;
  }

  struct Grid {
    int exponent = 0;
    double grid = 0, least = 0;  ///< 1.5 2^(g+52); 2^e of the smallest product
  };
  static double grid_of(int g) { return 1.5 * Host::power(g + 52); }

  /// Chooses a grid for all blocks, whose products have exponents up to `most` + 1.
  void begin_joint(int most) {
    grid_ = most + log_all_ - 51;
    joint_ = grid_ >= -800 && grid_ <= 800;
    if (!joint_) return;
    shared_.exponent = grid_;
    shared_.grid = grid_of(grid_);
    join_least_ = Host::power(join_exponent());
  }

  /// One block's factors: of the PEs and of the items.
  struct Block {
    const double *numbers, *items;
    const ExponentRange *a, *b;
    const std::int16_t *a_least, *b_least;  ///< by factor

    int least() const { return a->least + b->least - 2 * bias; }
    int most() const { return a->most + b->most - 2 * bias; }
    bool finite() const { return a->most < last_exponent && b->most < last_exponent; }
    /// The smallest factors of both are rarely in the same product.
    int least_of_products(std::size_t depth) const {
      return Host::least_sum(a_least, b_least, depth) - 2 * bias;
    }
  };

  void add_up_block(const Block& block, const Leaves& to, bool* beyond) {
    const double *const numbers = block.numbers, *const items = block.items;
    const int margin = 9 + log_depth_, most = block.most();
    int least = block.least();
    if (least < grid_ + margin + 8) {
      least = block.least_of_products(t_.factors.depth);
      if (least > most) least = most;
    }
    // Within this range nothing overflows, and no tail underflows.
    const bool normal = least >= -800 && most <= 800 && block.finite();
    if (joint_ && normal && least >= grid_ + margin) [[likely]] {
      on_grid(numbers, items, shared_, least, to);
      return;
    }
    joint_ = false;
    const int g = most + log_depth_ - 51;
    if (normal && least >= g + margin) {
      Grid own{g, grid_of(g)};
      on_grid(numbers, items, own, least, to);
    } else if (normal) {
      in_pairs(numbers, items, Host::power(most + 2), to);
      sign_zeros(numbers, items, to);
    } else {
      ++fallback_sums_;
      for (std::size_t j = 0; j < unroll; ++j) {
        const FallbackBlock column{Host::isa, numbers, items + j, unroll, t_.factors.depth};
        if (!fallback_sum(column, to.high + j * panel_lanes, to.low + j * panel_lanes))
          beyond[j] = true;
      }
    }
  }

  void sign_zeros(const double* numbers, const double* items, const Leaves& to) const {
    for (std::size_t j = 0; j < unroll; ++j)
      gdr::sign_zeros({Host::isa, numbers, items + j, unroll, t_.factors.depth},
                      to.high + j * panel_lanes, to.low + j * panel_lanes);
  }

  /// Products with exponents from `least` on.
  void on_grid(const double* numbers, const double* items, Grid& grid, int least,
               const Leaves& to) {
    grid.least = Host::power(least);
    const ExponentMode mode =
        least < grid.exponent + 17 + log_depth_ ? ExponentMode::Clamped : ExponentMode::Plain;
    bool zero = false;
    for (std::size_t at = 0; at < panel_lanes; at += width) {
      const Place place{numbers + at, to.high + at, to.low + at};
      if (Host::has_exponent_estimates && mode == ExponentMode::Plain && until_estimate_ == 0) {
        if (on_grid<ExponentMode::Estimated>(place, items, grid, zero)) continue;
        until_estimate_ = sums_between_estimates;  // where one fails others will
      }
      if (until_estimate_ > 0) --until_estimate_;
      if (mode == ExponentMode::Plain)
        on_grid<ExponentMode::Plain>(place, items, grid, zero);
      else
        on_grid<ExponentMode::Clamped>(place, items, grid, zero);
    }
    if (zero) sign_zeros(numbers, items, to);
  }

  /// Times 2^e: the constant that rounds at 2^(e-60).
  static constexpr double rounder = 1.5 / 256;

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

  /// The rounding of a product is interleaved with the sum of the previous one. Heads and tails are
  /// stored separately, to be joined. Sets `zero` if a sum is zero. False if an estimated exponent
  /// may be wrong; then nothing is stored.
  template <ExponentMode mode>
  bool on_grid(const Place& place, const double* items, const Grid& range, bool& zero) {
    constexpr bool clamped = mode == ExponentMode::Clamped;
    const double* const numbers = place.numbers;
    const V grid = Host::all(range.grid), least = Host::all(range.least);
    const V c = Host::all(rounder);
    V h[unroll], l[unroll], head[unroll], tail[unroll];
    [[maybe_unused]] V inexact = Host::all(0);
    const auto to_grid = [&](V sum, V tails) {
      if constexpr (mode == ExponentMode::Estimated && Host::has_exponent_estimates)
        return Host::estimate_exponent(Host::add(sum, tails), inexact);
      const V e = Host::exponent_of_sum(sum, tails);
      return clamped ? Host::max(e, least) : e;
    };
    if constexpr (Host::exponents_ahead && mode != ExponentMode::Estimated)
      Host::template exponents<unroll>(numbers, items, t_.factors.depth, exponents_);
    // The product of factors k, interleaved with the rounding of a sum if `rounding`.
    const auto step = [&](std::size_t k, auto rounding) __attribute__((always_inline)) {
      const V a = Host::load(numbers + k * panel_lanes);
      V b[unroll], e[unroll], s[unroll];
#pragma GCC unroll 4
      for (std::size_t j = 0; j < unroll; ++j) b[j] = Host::all(items[k * unroll + j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < unroll; ++j)
        if constexpr (mode == ExponentMode::Estimated && Host::has_exponent_estimates)
          e[j] = Host::estimate_exponent(Host::mul(a, b[j]), inexact);
        else if constexpr (Host::exponents_ahead)
          e[j] = Host::load(exponents_ + (k * unroll + j) * width);
        else
          e[j] = Host::exponent_of_product(a, b[j]);
      if constexpr (rounding) {
#pragma GCC unroll 4
        for (std::size_t j = 0; j < unroll; ++j) h[j] = Host::add(h[j], head[j]);
#pragma GCC unroll 4
        for (std::size_t j = 0; j < unroll; ++j) l[j] = Host::add(l[j], tail[j]);
      }
#pragma GCC unroll 4
      for (std::size_t j = 0; j < unroll; ++j) head[j] = Host::fma(a, b[j], grid);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < unroll; ++j) head[j] = Host::sub(head[j], grid);
      if constexpr (rounding) {
#pragma GCC unroll 4
        for (std::size_t j = 0; j < unroll; ++j) s[j] = to_grid(h[j], l[j]);
      }
      // P - head rounded to 2^(e-60): a b - head is exact and fits rounder 2^e.
#pragma GCC unroll 4
      for (std::size_t j = 0; j < unroll; ++j) tail[j] = Host::fms(e[j], c, head[j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < unroll; ++j) tail[j] = Host::fma(a, b[j], tail[j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < unroll; ++j) tail[j] = Host::fnma(e[j], c, tail[j]);
      if constexpr (rounding) {
#pragma GCC unroll 4
        for (std::size_t j = 0; j < unroll; ++j) l[j] = Host::fma(s[j], c, l[j]);
#pragma GCC unroll 4
        for (std::size_t j = 0; j < unroll; ++j) l[j] = Host::fnma(s[j], c, l[j]);
      }
    };
#pragma GCC unroll 4
    for (std::size_t j = 0; j < unroll; ++j) h[j] = l[j] = Host::all(0);
    step(0, std::false_type{});
    for (std::size_t k = 1; k < t_.factors.depth; ++k) step(k, std::true_type{});
    if constexpr (mode == ExponentMode::Estimated && Host::has_exponent_estimates)
      if (Host::any(inexact)) return false;
#pragma GCC unroll 4
    for (std::size_t j = 0; j < unroll; ++j) {
      const V heads = Host::add(h[j], head[j]), tails = Host::add(l[j], tail[j]);
      const V exact = Host::exponent_of_sum(heads, tails);
      const V e = clamped ? Host::max(exact, least) : exact;
      zero |= Host::any(Host::zero(exact));
      // Without the clamp, tails are multiples of the smallest product's last place, which
      // suffices.
      if (clamped && Host::any(Host::less(e, Host::all(join_least_)))) joint_ = false;
      Host::store(place.high + j * panel_lanes, heads);
      Host::store(place.low + j * panel_lanes, Host::fnma(e, c, Host::fma(e, c, tails)));
    }
    return true;
  }

  // --- sums of pairs: any exponents

  /// h + l = a + b exactly (Knuth).
  static Pair two_sum(V a, V b) {
    const V s = Host::add(a, b);
    const V part = Host::sub(s, a);
    return {s, Host::add(Host::sub(a, Host::sub(s, part)), Host::sub(b, part))};
  }

  /// a + b rounded to a long. If three doubles cannot hold the sum, the third one is rounded to
  /// odd, so that rounding it again gives the correct result.
  static Pair sum61(Pair a, Pair b) {
    const Pair heads = two_sum(a.h, b.h), tails = two_sum(a.l, b.l);
    const Pair rest = two_sum(tails.h, heads.l);
    Pair sum = two_sum(heads.h, rest.h);
    const V lost = Host::add(tails.l, rest.l);
    if (Host::any(Host::nonzero(lost))) [[unlikely]] {
      const Pair end = two_sum(sum.l, lost);
      sum.l = Host::to_odd(end.h, end.l);
    }
    const V e = Host::exponent_of_sum(sum.h, sum.l), c = Host::all(rounder);
    const V l = Host::fnma(e, c, Host::fma(e, c, sum.l));
    // Without a tail the head is the sum, also if it is -0.
    const M whole = Host::zero(Host::bits_of(rest.h, sum.l));
    return {Host::select(whole, heads.h, sum.h), Host::select(whole, Host::all(0), l)};
  }

  void in_pairs(const double* numbers, const double* items, double most, const Leaves& to) const {
    const V c = Host::all(rounder), limit = Host::all(most);
    for (std::size_t part = 0; part < parts; ++part) {
      for (std::size_t j = 0; j < unroll; ++j) {
        Pair s{};
        for (std::size_t k = 0; k < t_.factors.depth; ++k) {
          const V a = Host::load(numbers + k * panel_lanes + part * width);
          const V b = Host::all(items[k * unroll + j]);
          const V p = Host::mul(a, b), e = Host::exponent_of_product(a, b, limit);
          const V rest = Host::fms(a, b, p);
          const Pair product{p, Host::fnma(e, c, Host::fma(e, c, rest))};
          s = k == 0 ? product : sum61(s, product);
        }
        Host::store(to.high + j * panel_lanes + part * width, s.h);
        Host::store(to.low + j * panel_lanes + part * width, s.l);
      }
    }
  }

  /// Least exponent at which sums of blocks are rounded (see the file's comment).
  int join_exponent() const { return grid_ + log_all_ + 9; }

  /// Adds up leaves into `to`, as reduce_tree does.
  void join(std::size_t n, const Leaves& leaves, const Leaves& to) const {
    if (joint_) {
      const V least = Host::all(join_least_), c = Host::all(rounder);
      join_by(n, leaves, to, [least, c](Pair a, Pair b) {
        const V h = Host::add(a.h, b.h), l = Host::add(a.l, b.l);
        const V e = Host::max(Host::exponent_of_sum(h, l), least);
        return Pair{h, Host::fnma(e, c, Host::fma(e, c, l))};
      });
    } else {
      join_by(n, leaves, to, sum61);
    }
  }

  template <typename Sum>
  static void join_by(std::size_t n, const Leaves& leaves, const Leaves& to, Sum sum) {
    if (n == 1) copy(leaves, to);
    for (; n > 1; n = (n + 1) / 2) {
      Leaves left = leaves, made = n == 2 ? to : leaves;
      for (std::size_t i = 0; i < n / 2; ++i, made = made.next()) {
        const Leaves right = left.next();
        for (std::size_t at = 0; at < Leaves::pairs; at += width)
          made.store(at, sum(left.load(at), right.load(at)));
        left = right.next();
      }
      if (n % 2 != 0) copy(left, made);
    }
  }

  static void copy(const Leaves& from, const Leaves& to) {
    for (std::size_t at = 0; at < Leaves::pairs; at += width) to.store(at, from.load(at));
  }

  const MatmulTask& t_;
  double* items_;
  ExponentRange* ranges_;
  std::int16_t* least_;  ///< least exponent of each factor
  Leaves leaves_, chip_leaves_;
  double*
      exponents_;  ///< [factor][column][PE]: of the products of one vector, if computed in advance
  int log_depth_ = 0, log_all_ = 0;  ///< log2 of the number of products of a block, and of all
  // Common to the sums of all blocks:
  int grid_ = 0;
  bool joint_ = true;  ///< all sums so far are on the grid
  Grid shared_;
  double join_least_ = 0;        ///< 2^e of join_exponent
  unsigned until_estimate_ = 0;  ///< sums until the next estimate
  std::uint64_t fallback_sums_ = 0;
};

}  // namespace gdr
