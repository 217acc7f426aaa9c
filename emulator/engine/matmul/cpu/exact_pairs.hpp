// Longs of 61 bits as pairs of doubles, and their sums for any exponents (see exact.hpp).
#pragma once

#include "emulator/engine/matmul/cpu/functions.hpp"

namespace gdr {

/// `Host`: vectors of the instruction set.
template <class Host>
struct ExactPairs {
  using V = typename Host::V;
  using M = typename Host::M;

  /// A long, h + l, in each lane.
  struct Pair {
    V h, l;
  };

  /// Times 2^e: the constant that rounds at 2^(e-60).
  static constexpr double rounder = 1.5 / 256;

  /// l rounded at 2^(e-60), for e as 2^e.
  static V rounded(V l, V e) {
    const V c = Host::all(rounder);
    return Host::fnma(e, c, Host::fma(e, c, l));
  }

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
    const V l = rounded(sum.l, Host::exponent_of_sum(sum.h, sum.l));
    // Without a tail the head is the sum, also if it is -0.
    const M whole = Host::zero(Host::bits_of(rest.h, sum.l));
    return {Host::select(whole, heads.h, sum.h), Host::select(whole, Host::all(0), l)};
  }
};

}  // namespace gdr
