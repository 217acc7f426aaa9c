// Exact steps on doubles for a GPU, whose programs are made from a trace of them.
//
// A GPU's units for doubles are its bottleneck. So sums that a program can compute with fewer
// operations, if it tests a few bits and branches in rare cases, are one step of the trace.
#pragma once

#include "emulator/engine/lanes/doubles/tested_steps.hpp"

namespace gdr::codegen {

template <class P>
struct DeviceSteps : TestedSteps<P> {
  using Tested = TestedSteps<P>;
  using P::add, P::sub, P::xor_, P::and_, P::set_bits, P::sign;
  using typename P::D;

  template <bool Subtract>
  static D rounded_sum(const D& a, const D& b) {
    return P::rounded_sum(a, Subtract ? negated(b) : b);
  }
  template <bool Subtract>
  void long_sum(const D& a, const D& tail, const D& b, D& h, D& l) {
    const D term = Subtract ? negated(b) : b;
    h = P::long_head(a, tail, term);
    l = P::long_tail(a, tail, term);
  }
  template <bool Subtract>
  void unnormalized_sum(const D& a, const D& tail, const D& b, D& h, D& l) {
    long_sum<Subtract>(a, tail, b, h, l);
  }

  /// s + e = a + b exactly, in three steps (Dekker): where |a| >= |b|, or a is a multiple of b's
  /// last place. Otherwise |b| > |a|, so that a + b is a multiple of b's last place below 2 |b|.
  /// Then s - a is such a multiple, too, of at most 53 bits, and b - (s - a) the error of s.
  static void fast_two_sum(const D& a, const D& b, D& s, D& e) {
    s = add(a, b);
    e = sub(b, sub(s, a));
  }

  /// For s and t of an exact sum of two pairs (two_sum_tail), or a pair. Only where the heads a and
  /// b cancel down to their tails, |t| is larger than |s|. There s = a + b is exact (Sterbenz) and
  /// a multiple of the last place of both; t is the sum of their tails, each at most such a place,
  /// so that s is a multiple of t's last place by far.
  void round_long(const D& s, const D& t, D& h, D& l) {
    D rest;
    fast_two_sum(s, t, h, rest);
    l = this->round_tail(h, rest);
  }
  static D odd_tail(const D& s, const D& t) {
    D v, e;
    fast_two_sum(s, t, v, e);
    return Tested::to_odd(v, e);
  }
  static D head(const D& h, const D& l) {
    D s, e, rest;
    fast_two_sum(h, l, s, e);
    return P::or_(Tested::truncated(s, e, rest), and_(h, set_bits(sign)));
  }

 private:
  static D negated(const D& a) { return xor_(a, set_bits(sign)); }
};

}  // namespace gdr::codegen
