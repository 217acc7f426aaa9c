// The machine's sums of products in the host's doubles.
//
// A long s (61 bits) is a pair of doubles, s = h + l. Each step of the machine rounds once: the
// product P = a b of two factors of 50 bits, and the sum S = s + P. Both roundings are done where
// it is cheap, on the small part: with e the exponent of the exact value, a number in the middle of
// the binade [2^(e-8), 2^(e-7)), where doubles lie 2^(e-60) apart, is added to it and taken off
// again. e itself comes from a product or sum that is rounded towards zero.
//
// What remains is to split values so that heads add up exactly. All heads of a block's sum stand on
// one grid: h is a multiple of 2^g, and so is the head p of a product, which is P rounded to the
// grid. With exponents of the factors up to ea and eb, and 2^d the number of products, |h| stays
// below 2^(ea+eb+d+3), so g = ea + eb + d - 50 makes every h + p exact. Tails are below 2^(g+d),
// and at least 2^(e-9) of the smallest product (exponent e >= g + d + 9) must be above that for the
// rounding of tails; then all tails are multiples of 2^(e-60) below 2^(g+d), and add up exactly,
// too. So exponents may range over 41 - 2 d in a and b together. Where they range wider, and where
// blocks come together, Knuth's two-sum takes the place of the grid. Infinities, NaN and numbers
// near the ends of the range are left to integers.
//
// A sum may be smaller than the smallest product, down to 2^(e-60) of it, where products cancel. It
// needs no rounding then, and must not be harmed by it: with e >= g + d + 17 what rounds and a tail
// always fit a double together; with less the exponent of the smallest product takes its place.
#pragma once

#include "emulator/engine/products/kernels.hpp"

namespace gdr {

/// `Host`: vectors of the instruction set (see exact_avx512.cpp).
template <class Host>
class ExactProducts {
 public:
  static std::size_t scratch(const ProductTask& t) {
    return groups(t) * group_size(t) + ranges_size(t) + 2 * leaves(t) + 2 * chip_leaves(t) +
           t.factors.depth * together * width;
  }

  static std::uint64_t run(const ProductTask& t) {
    ExactProducts work(t);
    work.take_columns();
    for (std::size_t panel = 0; panel < t.factors.panels; ++panel)
      for (std::size_t group = 0; group < groups(t); ++group) work.add_up(panel, group);
    return work.careful_;
  }

 private:
  using V = typename Host::V;
  using M = typename Host::M;
  static constexpr std::size_t width = Host::width;
  static constexpr std::size_t parts = panel_lanes / width;  ///< vectors of a panel
  static constexpr std::size_t together = 4;                 ///< columns side by side

  static std::size_t groups(const ProductTask& t) { return (t.columns + together - 1) / together; }
  static std::size_t blocks(const ProductTask& t) { return t.factors.chips * t.factors.blocks; }
  static std::size_t group_size(const ProductTask& t) {
    return blocks(t) * t.factors.depth * together;
  }
  static std::size_t ranges_size(const ProductTask& t) { return groups(t) * blocks(t); }
  static std::size_t leaves(const ProductTask& t) {
    return t.factors.blocks * together * panel_lanes;
  }
  static std::size_t chip_leaves(const ProductTask& t) {
    return t.factors.chips * together * panel_lanes;
  }

  explicit ExactProducts(const ProductTask& t)
      : t_(t),
        items_(t.scratch),
        ranges_(reinterpret_cast<ExponentRange*>(items_ + groups(t) * group_size(t))),
        high_(items_ + groups(t) * group_size(t) + ranges_size(t)),
        low_(high_ + leaves(t)),
        chip_high_(low_ + leaves(t)),
        chip_low_(chip_high_ + chip_leaves(t)),
        exponents_(chip_low_ + chip_leaves(t)) {
    static_assert(sizeof(ExponentRange) == sizeof(double));
    std::size_t d = 0;
    while ((std::size_t{1} << d) < t.factors.depth) ++d;
    log_depth_ = static_cast<int>(d);
  }

  // --- columns, side by side, cut to what the multiplier sees

  void take_columns() {
    const std::size_t depth = t_.factors.depth;
    for (std::size_t g = 0; g < groups(t_); ++g) {
      for (std::size_t chip = 0; chip < t_.factors.chips; ++chip) {
        for (std::size_t block = 0; block < t_.factors.blocks; ++block) {
          const std::size_t at = chip * t_.factors.blocks + block;
          double* const to = items_ + g * group_size(t_) + at * depth * together;
          int least = 2047, most = 0;
          for (std::size_t j = 0; j < together; ++j) {
            const std::size_t column = g * together + j;
            if (column < t_.columns)
              Host::take(t_.records[column * t_.factors.chips + chip] + block * depth, depth,
                         to + j, together, least, most);
            else
              for (std::size_t k = 0; k < depth; ++k) to[k * together + j] = 0;
          }
          if (least > most) least = most = 1023;
          ranges_[g * blocks(t_) + at] = {least, most};
        }
      }
    }
  }

  // --- one panel, some columns

  void add_up(std::size_t panel, std::size_t group) {
    const std::size_t depth = t_.factors.depth;
    bool beyond[together] = {};
    for (std::size_t chip = 0; chip < t_.factors.chips; ++chip) {
      for (std::size_t block = 0; block < t_.factors.blocks; ++block) {
        const std::size_t at = chip * t_.factors.blocks + block;
        const std::size_t of_panel = panel * blocks(t_) + at;
        const double* const numbers = t_.factors.numbers + of_panel * depth * panel_lanes;
        const double* const items = items_ + group * group_size(t_) + at * depth * together;
        const std::size_t leaf = block * together * panel_lanes;
        add_up_block(numbers, items, t_.factors.ranges[of_panel], ranges_[group * blocks(t_) + at],
                     high_ + leaf, low_ + leaf, beyond);
      }
      join(t_.factors.blocks, high_, low_);
      const std::size_t leaf = chip * together * panel_lanes;
      for (std::size_t i = 0; i < together * panel_lanes; ++i) {
        chip_high_[leaf + i] = high_[i];
        chip_low_[leaf + i] = low_[i];
      }
    }
    join(t_.factors.chips, chip_high_, chip_low_);
    for (std::size_t j = 0; j < together; ++j) {
      const std::size_t column = group * together + j;
      if (column >= t_.columns) break;
      double* const to = t_.sums + (column * t_.factors.panels + panel) * panel_lanes;
      for (std::size_t part = 0; part < parts; ++part) {
        const std::size_t from = j * panel_lanes + part * width;
        // Rounded to a double as the port does it. (-0) + 0 would be +0.
        const V h = Host::load(chip_high_ + from), l = Host::load(chip_low_ + from);
        Host::store(to + part * width, Host::select(Host::zero(l), h, Host::add(h, l)));
      }
      if (!beyond[j]) continue;
      ++careful_;
      careful_column({Host::isa, t_.factors, panel, items_ + group * group_size(t_) + j, together},
                     to);
    }
  }

  struct Grid {
    double grid, least, most;  ///< 1.5 2^(g+52); 2^e of the smallest and above the largest product
  };

  void add_up_block(const double* numbers, const double* items, ExponentRange a, ExponentRange b,
                    double* high, double* low, bool* beyond) {
    const int least = a.least + b.least - 2 * 1023, most = a.most + b.most - 2 * 1023;
    // Within this range nothing overflows, and no tail underflows.
    const bool normal = least >= -800 && most <= 800;
    const int g = most + log_depth_ - 50;
    bool zero = false;
    if (normal && least >= g + 9 + log_depth_) {
      const Grid grid{1.5 * Host::power(g + 52), Host::power(least), Host::power(most + 2)};
      const bool clamped = least < g + 17 + log_depth_;
      for (std::size_t at = 0; at < panel_lanes; at += width)
        zero |= clamped ? on_grid<true>(numbers + at, items, grid, high + at, low + at)
                        : on_grid<false>(numbers + at, items, grid, high + at, low + at);
    } else if (normal) {
      in_pairs(numbers, items, Host::power(most + 2), high, low);
      zero = true;
    } else {
      ++careful_;
      for (std::size_t j = 0; j < together; ++j) {
        const CarefulBlock block{Host::isa, numbers, items + j, together, t_.factors.depth};
        if (!careful_sum(block, high + j * panel_lanes, low + j * panel_lanes)) beyond[j] = true;
      }
      return;
    }
    for (std::size_t j = 0; zero && j < together; ++j)
      sign_zeros({Host::isa, numbers, items + j, together, t_.factors.depth},
                 high + j * panel_lanes, low + j * panel_lanes);
  }

  /// Takes the exponent's 1 to what rounds 60 bits below it.
  static constexpr double rounder = 1.5 / 256;

  /// `Clamped`: sums may be so much smaller than the products that what rounds them would not reach
  /// over their tails: then it is taken from the smallest product, below which nothing is rounded.
  /// A product's rounding and the sum of the one before it go side by side. Heads and tails are
  /// left as they are, for sum61 to join. Returns whether a sum is zero.
  template <bool Clamped>
  bool on_grid(const double* numbers, const double* items, const Grid& range, double* high,
               double* low) const {
    const V grid = Host::all(range.grid), least = Host::all(range.least);
    const V most = Host::all(range.most), c = Host::all(rounder);
    V h[together], l[together], head[together], tail[together], s[together];
#pragma GCC unroll 4
    for (std::size_t j = 0; j < together; ++j) h[j] = l[j] = head[j] = tail[j] = Host::all(0);
    const auto to_grid = [&](V sum, V tails) {
      const V e = Host::exponent_of_sum(sum, tails);
      return Clamped ? Host::max(e, least) : e;
    };
    if constexpr (Host::exponents_ahead)
      Host::template exponents<together>(numbers, items, t_.factors.depth, exponents_);
    for (std::size_t k = 0; k < t_.factors.depth; ++k) {
      const V a = Host::load(numbers + k * panel_lanes);
      V b[together], e[together];
#pragma GCC unroll 4
      for (std::size_t j = 0; j < together; ++j) b[j] = Host::all(items[k * together + j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < together; ++j)
        e[j] = Host::exponents_ahead ? Host::load(exponents_ + (k * together + j) * width)
                                     : Host::exponent_of_product(a, b[j], most);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < together; ++j) h[j] = Host::add(h[j], head[j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < together; ++j) l[j] = Host::add(l[j], tail[j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < together; ++j) head[j] = Host::fma(a, b[j], grid);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < together; ++j) head[j] = Host::sub(head[j], grid);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < together; ++j) s[j] = to_grid(h[j], l[j]);
        // P less its head, rounded to 2^(e-60): a b - head is exact, and rounder 2^e holds it.
#pragma GCC unroll 4
      for (std::size_t j = 0; j < together; ++j) tail[j] = Host::fms(e[j], c, head[j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < together; ++j) tail[j] = Host::fma(a, b[j], tail[j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < together; ++j) tail[j] = Host::fnma(e[j], c, tail[j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < together; ++j) l[j] = Host::fma(s[j], c, l[j]);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < together; ++j) l[j] = Host::fnma(s[j], c, l[j]);
    }
    bool zero = false;
#pragma GCC unroll 4
    for (std::size_t j = 0; j < together; ++j) {
      const V heads = Host::add(h[j], head[j]), tails = Host::add(l[j], tail[j]);
      const V e = to_grid(heads, tails);
      const V rounded = Host::fnma(e, c, Host::fma(e, c, tails));
      zero |= Host::any(Host::zero(Host::add(heads, rounded)));
      Host::store(high + j * panel_lanes, heads);
      Host::store(low + j * panel_lanes, rounded);
    }
    return zero;
  }

  // --- sums of pairs: any exponents

  struct Pair {
    V h, l;
  };

  /// h + l = a + b exactly (Knuth).
  static Pair two_sum(V a, V b) {
    const V s = Host::add(a, b);
    const V part = Host::sub(s, a);
    return {s, Host::add(Host::sub(a, Host::sub(s, part)), Host::sub(b, part))};
  }

  /// a + b rounded to a long. What three doubles cannot hold moves the third one to an odd last
  /// bit, from where it is rounded as the whole would be.
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
    // Without a tail the head is the sum already, also as -0.
    const M whole = Host::zero(Host::bits_of(rest.h, sum.l));
    return {Host::select(whole, heads.h, sum.h), Host::select(whole, Host::all(0), l)};
  }

  void in_pairs(const double* numbers, const double* items, double most, double* high,
                double* low) const {
    const V c = Host::all(rounder), limit = Host::all(most);
    for (std::size_t part = 0; part < parts; ++part) {
      for (std::size_t j = 0; j < together; ++j) {
        Pair s{};
        for (std::size_t k = 0; k < t_.factors.depth; ++k) {
          const V a = Host::load(numbers + k * panel_lanes + part * width);
          const V b = Host::all(items[k * together + j]);
          const V p = Host::mul(a, b), e = Host::exponent_of_product(a, b, limit);
          const V rest = Host::fms(a, b, p);
          const Pair product{p, Host::fnma(e, c, Host::fma(e, c, rest))};
          s = k == 0 ? product : sum61(s, product);
        }
        Host::store(high + j * panel_lanes + part * width, s.h);
        Host::store(low + j * panel_lanes + part * width, s.l);
      }
    }
  }

  /// Adds up leaves into the first, as reduce_tree does.
  void join(std::size_t n, double* high, double* low) const {
    constexpr std::size_t leaf = together * panel_lanes;
    for (; n > 1; n = (n + 1) / 2) {
      for (std::size_t i = 0; i < n / 2; ++i) {
        for (std::size_t at = 0; at < leaf; at += width) {
          const std::size_t left = 2 * i * leaf + at, right = left + leaf;
          const Pair sum = sum61({Host::load(high + left), Host::load(low + left)},
                                 {Host::load(high + right), Host::load(low + right)});
          Host::store(high + i * leaf + at, sum.h);
          Host::store(low + i * leaf + at, sum.l);
        }
      }
      if (n % 2 == 0) continue;
      for (std::size_t i = 0; i < leaf; ++i) {
        high[n / 2 * leaf + i] = high[(n - 1) * leaf + i];
        low[n / 2 * leaf + i] = low[(n - 1) * leaf + i];
      }
    }
  }

  const ProductTask& t_;
  double* items_;
  ExponentRange* ranges_;
  double *high_, *low_, *chip_high_, *chip_low_;
  double* exponents_;  ///< [factor][column][PE]: of the products of one vector, where they go ahead
  int log_depth_ = 0;
  std::uint64_t careful_ = 0;
};

}  // namespace gdr
