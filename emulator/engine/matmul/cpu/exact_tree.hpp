// The reduction network's sums over blocks and chips, as pairs of doubles (see exact.hpp).
#pragma once

#include "emulator/engine/matmul/cpu/exact_pairs.hpp"

namespace gdr {

/// `Host`: vectors of the instruction set.
template <class Host>
class ExactTree {
 public:
  using V = typename Host::V;
  using Pairs = ExactPairs<Host>;
  using Pair = typename Pairs::Pair;

  /// Consecutive sums of blocks or chips, as pairs: [column][PE] of each.
  struct Leaves {
    static constexpr std::size_t pairs = exact_nr * panel_lanes, size = 2 * pairs;
    double *high, *low;

    explicit Leaves(double* at) : high(at), low(at + pairs) {}
    Leaves next(std::size_t n = 1) const { return Leaves(high + n * size); }
    Pair load(std::size_t at) const { return {Host::load(high + at), Host::load(low + at)}; }
    void store(std::size_t at, Pair sum) const {
      Host::store(high + at, sum.h);
      Host::store(low + at, sum.l);
    }
  };

  /// Adds up n leaves into `to`, as reduce_tree does.
  static void join(std::size_t n, const Leaves& leaves, const Leaves& to) {
    join_by(n, leaves, to, Pairs::sum61);
  }
  /// The same for leaves on one grid. `least`: 2^e of the least exponent at which sums round.
  static void join_on_grid(std::size_t n, const Leaves& leaves, const Leaves& to, double least) {
    const V lowest = Host::all(least);
    join_by(n, leaves, to, [lowest](Pair a, Pair b) {
      const V h = Host::add(a.h, b.h), l = Host::add(a.l, b.l);
      const V e = Host::max(Host::exponent_of_sum(h, l), lowest);
      return Pair{h, Pairs::rounded(l, e)};
    });
  }

 private:
  template <typename Sum>
  static void join_by(std::size_t n, const Leaves& leaves, const Leaves& to, Sum sum) {
    if (n == 1) copy(leaves, to);
    for (; n > 1; n = (n + 1) / 2) {
      Leaves left = leaves, made = n == 2 ? to : leaves;
      for (std::size_t i = 0; i < n / 2; ++i, made = made.next()) {
        const Leaves right = left.next();
        for (std::size_t at = 0; at < Leaves::pairs; at += Host::width)
          made.store(at, sum(left.load(at), right.load(at)));
        left = right.next();
      }
      if (n % 2 != 0) copy(left, made);
    }
  }

  static void copy(const Leaves& from, const Leaves& to) {
    for (std::size_t at = 0; at < Leaves::pairs; at += Host::width) to.store(at, from.load(at));
  }
};

}  // namespace gdr
