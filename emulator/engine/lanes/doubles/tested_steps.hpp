// Exact steps on doubles for hosts that always round to nearest and raise flags.
//
// What must be exact is either so by theorem (the error of a sum or product of doubles is a double)
// or tested, lane by lane; failures are collected in a register. The host's flags still report
// overflow, underflow and invalid operations.
#pragma once

#include <cstdint>

#include "emulator/engine/lanes/doubles/batch.hpp"

namespace gdr {

/// Steps of one kernel and their failed tests, composed of single instructions `P` on vectors: the
/// host's, or traced ones.
template <class P>
struct TestedSteps : P {
  using P::add, P::sub, P::mul, P::fma, P::fms, P::fnma, P::and_, P::or_, P::xor_, P::and_not;
  using P::exponent, P::sign, P::set, P::set_bits, P::differ, P::less, P::not_, P::bits_equal,
      P::bits_sub;
  using typename P::D;
  using typename P::M;

  static constexpr unsigned failure_flags = 0x19;  ///< invalid, overflow, underflow

  D inexact_lanes = set(0);  ///< nonzero bits, except the sign, mark inexact lanes
  bool failed() const { return P::any_bit_set(inexact_lanes); }

  /// A sum that must be exact: then each term is the difference of the sum and the other.
  GDR_INLINE D add_proved(const D& a, const D& b) {
    const D t = add(a, b);
    inexact_lanes = or_(inexact_lanes, or_(differ(sub(t, a), b), differ(sub(t, b), a)));
    return t;
  }
  GDR_INLINE D sub_proved(const D& a, const D& b) { return add_proved(a, xor_(b, set_bits(sign))); }

  /// Rounded to 25 bits, ties to even, the sign of a zero kept, as FlagSteps explains. Infinite and
  /// huge (2^995 and beyond) values become NaN or an infinity, which no sum or product turns into a
  /// number.
  GDR_INLINE static D round_short(const D& x) {
    const D far = set(0x1p28);
    return fms(x, far, fms(x, far, x));
  }

  template <bool Subtract>
  GDR_INLINE static D short_sum(const D& a, const D& b) {
    return Subtract ? sub(a, b) : add(a, b);
  }
  GDR_INLINE static D short_product(const D& a, const D& b) { return mul(a, b); }

  /// s + e = a + b (a - b) exactly, s the nearest double to it.
  template <bool Subtract>
  GDR_INLINE static void two_sum(const D& a, const D& b, D& s, D& e) {
    s = short_sum<Subtract>(a, b);
    const D b_part = sub(s, a);
    const D a_part = sub(s, b_part);
    if constexpr (Subtract) {
      e = sub(sub(a, a_part), add(b, b_part));
    } else {
      e = add(sub(b, b_part), sub(a, a_part));
    }
  }
  /// s + t = a + tail + b (a + tail - b).
  template <bool Subtract>
  GDR_INLINE void two_sum_tail(const D& a, const D& tail, const D& b, D& s, D& t) {
    two_sum<Subtract>(a, b, s, t);
    t = add_proved(t, tail);
  }
  /// The sign of a zero sum; see FlagSteps.
  template <bool Subtract>
  GDR_INLINE static D sum_sign(const D& h, const D& a, const D& b) {
    const D both = Subtract ? and_not(a, b) : and_(a, b);
    return or_(h, and_(both, set_bits(sign)));
  }

  /// s + e cut to the 53 bits nearest to zero (s is nearest to it), `rest` ones where e is not 0.
  GDR_INLINE static D truncated(const D& s, const D& e, D& rest) {
    rest = differ(e, set(0));
    return bits_sub(s, P::template shr<63>(and_(xor_(s, e), rest)));
  }
  /// s + e rounded to odd: rounding it again to fewer bits rounds the exact sum.
  GDR_INLINE static D to_odd(const D& s, const D& e) {
    D rest;
    const D cut = truncated(s, e, rest);
    return or_(cut, P::template shr<63>(rest));
  }
  /// s + t rounded to odd.
  GDR_INLINE static D odd_tail(const D& s, const D& t) {
    D v, e;
    two_sum<false>(s, t, v, e);
    return to_odd(v, e);
  }

  /// a + b (a - b) rounded as round_short does: its error goes into 2^28 s - s, which is rounded
  /// once. Its sign is turned so that -0 stays -0.
  template <bool Subtract>
  GDR_INLINE static D rounded_sum(const D& a, const D& b) {
    const D s = short_sum<Subtract>(a, b);
    const D b_part = sub(s, a);
    const D a_part = sub(s, b_part);
    const D b_error = Subtract ? add(b, b_part) : sub(b_part, b);
    return round_with(s, sub(b_error, sub(a, a_part)));
  }
  GDR_INLINE static D rounded_product(const D& a, const D& b) {
    const D p = mul(a, b);
    return round_with(p, fnma(a, b, p));
  }
  GDR_INLINE static D round_with(const D& s, const D& minus_error) {
    return fms(s, set(0x1p28), fma(s, set(0x1p28 - 1), minus_error));
  }

  /// s + t rounded to a long's 61 bits, as a pair.
  GDR_INLINE void round_long(const D& s, const D& t, D& h, D& l) {
    D rest;
    two_sum<false>(s, t, h, rest);
    l = round_tail(h, rest);
  }
  GDR_INLINE void long_product(const D& a, const D& b, D& h, D& l) {
    h = mul(a, b);
    l = round_tail(h, fms(a, b, h));
  }
  /// The rest rounded where the long h + rest ends. If h is a power of two and the rest has the
  /// other sign, it ends elsewhere: a power of two with any rest counts as inexact.
  GDR_INLINE D round_tail(const D& h, const D& rest) {
    const D power = and_(h, set_bits(exponent));
    inexact_lanes = or_(inexact_lanes, and_(bits_equal(power, magnitude(h)), rest));
    const D far = set(0x1.8p-8);
    return fma(power, far, fnma(power, far, rest));
  }

  /// t rounded where the long s + t ends, which s need not be the head of; see FlagSteps.
  GDR_INLINE D round_unnormalized(const D& s, const D& t) { return round_tail(add(s, t), t); }

  /// The long a + tail + b (a + tail - b) as a pair; a is never -0, and b a short.
  template <bool Subtract>
  GDR_INLINE void long_sum(const D& a, const D& tail, const D& b, D& h, D& l) {
    D s, t;
    two_sum_tail<Subtract>(a, tail, b, s, t);
    round_long(s, t, h, l);
  }
  /// The same for another such sum: h need not be the head, see round_unnormalized.
  template <bool Subtract>
  GDR_INLINE void unnormalized_sum(const D& a, const D& tail, const D& b, D& h, D& l) {
    D t;
    two_sum_tail<Subtract>(a, tail, b, h, t);
    l = round_unnormalized(h, t);
  }

  /// The leading 53 bits of a pair, cut. A zero keeps its sign, which -0 + 0 would lose.
  GDR_INLINE static D head(const D& h, const D& l) {
    D s, e, rest;
    two_sum<false>(h, l, s, e);
    return or_(truncated(s, e, rest), and_(h, set_bits(sign)));
  }

  GDR_INLINE static D magnitude(const D& a) { return and_(a, set_bits(~sign)); }
};

}  // namespace gdr
