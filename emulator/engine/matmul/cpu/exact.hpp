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
// too. So the exponents of a and b together may range over 42 - 2 d. Beyond that, Knuth's
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
//
// The loops are those of a fast product (Goto and van de Geijn, "Anatomy of high-performance matrix
// multiplication", ACM TOMS 34, 2008), where A are the PEs' factors and B the items:
//
//   jc  tasks of nc items (ExactProducts): packs B, all of the inner dimension, because the
//       rounding of the first sum depends on the exponents of all
//   ic  panels of mc = 8 PEs, whose factors, all of the inner dimension, stay in the second-level
//       cache. They are packed once for all tasks (PackedFactors)
//   jr  nr = 4 items
//   pc  kc factors, those of a block, in the machine's order: the sums of blocks wait as pairs for
//       the tree of the reduction network, so this loop is inside of those over C
//   ir  vectors of mr PEs of the panel
//   micro-kernel: mr x nr sums in registers (exact_block.hpp)
#pragma once

#include "emulator/engine/matmul/cpu/exact_block.hpp"
#include "emulator/engine/matmul/cpu/exact_items.hpp"
#include "emulator/engine/matmul/cpu/exact_tree.hpp"
#include "emulator/engine/matmul/cpu/functions.hpp"

namespace gdr {

/// `Host`: vectors of the instruction set (see functions_avx512.cpp).
template <class Host>
class ExactMatmul {
 public:
  static std::size_t scratch(const MatmulTask& t) {
    return Items::size(t) + (t.factors.blocks + t.factors.chips) * Leaves::size +
           t.factors.depth * nr * mr;
  }

  /// An iteration of loop jc.
  static std::uint64_t run(const MatmulTask& t) {
    ExactMatmul work(t);
    work.items_.pack();
    work.loop_ic();
    return work.fallback_sums_;
  }

  /// MatmulFunctions::gather, which packs A: the leading 50 bits, with the interval of exponents.
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
      ExponentInterval& interval = row.intervals[panel * row.interval_step];
      std::int32_t least = last_exponent;
      for (std::size_t i = 0; i < panel_lanes; ++i) {
        const auto l = static_cast<std::int32_t>(low[i]), h = static_cast<std::int32_t>(high[i]);
        least = l < least ? l : least;
        interval.most = h > interval.most ? h : interval.most;
      }
      interval.least = least < interval.least ? least : interval.least;
      row.least[panel * row.min_step] = static_cast<std::int16_t>(least);
    }
  }

 private:
  using V = typename Host::V;
  using Tree = ExactTree<Host>;
  using Leaves = typename Tree::Leaves;
  using Items = ExactItems<Host>;
  using Grid = typename ExactBlock<Host>::Grid;
  static constexpr std::size_t mr = Host::width, nr = exact_nr;

  static constexpr int bias = 1023;
  static_assert(4 * last_exponent < 32768, "sums of two exponents are shorts");

  explicit ExactMatmul(const MatmulTask& t)
      : t_(t),
        items_(t, t.scratch),
        leaves_(t.scratch + Items::size(t)),
        chip_leaves_(leaves_.next(t.factors.blocks)),
        // The grid of fewer than four products could not hold a product and its rounding constant.
        log_depth_(log_above(t.factors.depth < 4 ? 4 : t.factors.depth)),
        log_all_(log_depth_ + log_above(t.factors.blocks) + log_above(t.factors.chips)),
        block_(t.factors.depth, log_depth_, chip_leaves_.next(t.factors.chips).high) {}

  static int log_above(std::size_t n) {
    int d = 0;
    while ((std::size_t{1} << d) < n) ++d;
    return d;
  }

  // --- the loops

  /// Loop ic: panels of eight PEs. Of those whose factors are all +0, the first one.
  void loop_ic() {
    for (std::size_t panel = 0; panel < t_.factors.panels; ++panel)
      if (t_.factors.zeros[panel] == 0 || panel == t_.factors.first_of_zeros) loop_jr(panel);
  }

  /// Loop jr: groups of nr items.
  void loop_jr(std::size_t panel) {
    for (std::size_t group = 0; group < Items::groups(t_); ++group) {
      bool beyond[nr] = {};
      loop_pc(panel, group, beyond);
      store(panel, group, beyond);
    }
  }

  /// Loop pc: the blocks of all chips, and the reduction network's sums. `beyond` is set for items
  /// whose sums are outside of the range of pairs.
  void loop_pc(std::size_t panel, std::size_t group, bool* beyond) {
    const std::size_t depth = t_.factors.depth;
    const std::size_t first = panel * t_.factors.chips * t_.factors.blocks;
    Block block{t_.factors.numbers + first * depth * panel_lanes,
                items_.items(group),
                t_.factors.intervals + first,
                items_.intervals(group),
                t_.factors.least + first * depth,
                items_.least(group)};
    begin_joint(largest(block.a) + largest(block.b) - 2 * bias);
    Leaves chips = chip_leaves_;
    for (std::size_t chip = 0; chip < t_.factors.chips; ++chip, chips = chips.next()) {
      Leaves leaf = leaves_;
      for (std::size_t n = 0; n < t_.factors.blocks; ++n, leaf = leaf.next()) {
        add_up_block(block, leaf, beyond);
        block.advance(depth);
      }
      join(t_.factors.blocks, leaves_, chips);
    }
    join(t_.factors.chips, chip_leaves_, leaves_);
  }

  /// Stores the sums of a panel and a group, rounded to doubles as at the port.
  void store(std::size_t panel, std::size_t group, const bool* beyond) {
    for (std::size_t j = 0; j < nr; ++j) {
      const std::size_t column = group * nr + j;
      if (column >= t_.columns) break;
      double* const to = t_.sums + (column * t_.factors.panels + panel) * panel_lanes;
      for (std::size_t at = 0; at < panel_lanes; at += mr) {
        const auto [h, l] = leaves_.load(j * panel_lanes + at);
        // (-0) + 0 would be +0.
        Host::store(to + at, Host::select(Host::zero(l), h, Host::add(h, l)));
      }
      if (!beyond[j]) continue;
      ++fallback_sums_;
      fallback_column({Host::isa, t_.factors, panel, items_.items(group) + j, nr}, to);
    }
  }

  // --- a block

  /// One block's factors: of the PEs and of the items.
  struct Block {
    const double *numbers, *items;
    const ExponentInterval *a, *b;
    const std::int16_t *a_least, *b_least;  ///< least exponents, indexed by factor

    void advance(std::size_t depth) {
      numbers += depth * panel_lanes;
      items += depth * nr;
      ++a, ++b;
      a_least += depth;
      b_least += depth;
    }
    int least() const { return a->least + b->least - 2 * bias; }
    int most() const { return a->most + b->most - 2 * bias; }
    bool finite() const { return a->most < last_exponent && b->most < last_exponent; }
    /// The smallest factors of both are rarely in the same product.
    int min_of_products(std::size_t depth) const {
      return Host::min_sum(a_least, b_least, depth) - 2 * bias;
    }
  };

  int largest(const ExponentInterval* of_blocks) const {
    int most = 0;
    for (std::size_t at = 0; at < t_.factors.chips * t_.factors.blocks; ++at)
      if (of_blocks[at].most > most) most = of_blocks[at].most;
    return most;
  }

  /// Chooses a grid for all blocks, whose products have exponents up to `most` + 1.
  void begin_joint(int most) {
    shared_.exponent = most + log_all_ - 51;
    joint_ = shared_.exponent >= -800 && shared_.exponent <= 800;
    if (!joint_) return;
    shared_ = ExactBlock<Host>::grid_of(shared_.exponent);
    // See the head of this file.
    shared_.join_least = Host::power(shared_.exponent + log_all_ + 9);
  }

  /// Sums on the grid of all blocks, on a grid of the block, by two-sums, or on integers.
  void add_up_block(const Block& block, const Leaves& to, bool* beyond) {
    const int margin = 9 + log_depth_, most = block.most();
    int least = block.least();
    if (least < shared_.exponent + margin + 8) {
      least = block.min_of_products(t_.factors.depth);
      if (least > most) least = most;
    }
    // Within this range nothing overflows, and no tail underflows.
    const bool normal = least >= -800 && most <= 800 && block.finite();
    if (joint_ && normal && least >= shared_.exponent + margin) [[likely]] {
      on_grid(block, shared_, least, to);
      return;
    }
    joint_ = false;
    const int g = most + log_depth_ - 51;
    if (normal && least >= g + margin) {
      on_grid(block, ExactBlock<Host>::grid_of(g), least, to);
    } else if (normal) {
      block_.loop_ir_in_pairs(block.numbers, block.items, Host::power(most + 2), to);
      sign_zeros(block, to);
    } else {
      on_integers(block, to, beyond);
    }
  }

  void on_grid(const Block& block, const Grid& grid, int least, const Leaves& to) {
    const auto outcome = block_.loop_ir(block.numbers, block.items, grid, least, to);
    if (outcome.small) joint_ = false;
    if (outcome.zero) sign_zeros(block, to);
  }

  void on_integers(const Block& block, const Leaves& to, bool* beyond) {
    ++fallback_sums_;
    for (std::size_t j = 0; j < nr; ++j) {
      const FallbackBlock column{Host::isa, block.numbers, block.items + j, nr, t_.factors.depth};
      if (!fallback_sum(column, to.high + j * panel_lanes, to.low + j * panel_lanes))
        beyond[j] = true;
    }
  }

  void sign_zeros(const Block& block, const Leaves& to) const {
    for (std::size_t j = 0; j < nr; ++j)
      gdr::sign_zeros({Host::isa, block.numbers, block.items + j, nr, t_.factors.depth},
                      to.high + j * panel_lanes, to.low + j * panel_lanes);
  }

  void join(std::size_t n, const Leaves& leaves, const Leaves& to) const {
    if (joint_)
      Tree::join_on_grid(n, leaves, to, shared_.join_least);
    else
      Tree::join(n, leaves, to);
  }

  const MatmulTask& t_;
  Items items_;
  Leaves leaves_;            ///< sums of the blocks of a chip
  Leaves chip_leaves_;       ///< sums of the chips
  int log_depth_, log_all_;  ///< log2 of the number of products of a block, and of all
  ExactBlock<Host> block_;
  bool joint_ = true;  ///< whether all sums of the panel and group so far are on the shared grid
  Grid shared_;        ///< grid of all blocks
  std::uint64_t fallback_sums_ = 0;
};

}  // namespace gdr
