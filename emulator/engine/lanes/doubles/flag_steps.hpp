// Exact steps on doubles, verified by exception flags, for hosts with static rounding.
//
// An instruction with static rounding raises no exception flags, an ordinary one does. A step that
// may round is of the first kind; a step that must be exact for the result to be right is of the
// second. If the flags are still clear at the end of a run, every lane of it was exact.
#pragma once

#include <cstdint>

#include "emulator/engine/lanes/doubles/batch.hpp"

namespace gdr {

/// Steps of one kernel, composed of single instructions `P` on vectors: the host's, or traced ones.
/// TestedSteps has the same interface; its `failed()` collects tests.
template <class P>
struct FlagSteps : P {
  using P::add, P::sub, P::mul, P::fma, P::fms, P::fnma, P::and_, P::or_, P::xor_;
  using P::add_round, P::sub_round, P::mul_round, P::fma_round, P::fms_round, P::fnma_round;
  using P::exponent, P::sign, P::nearest, P::down, P::up, P::truncate;
  using P::set, P::set_bits, P::differ, P::set_last, P::less, P::not_;
  using typename P::D;
  using typename P::M;

  static constexpr unsigned failure_flags = 0x39;  ///< MXCSR: invalid, overflow, underflow, inexact
  static bool failed() { return false; }

  GDR_INLINE static D add_proved(const D& a, const D& b) { return add(a, b); }
  GDR_INLINE static D sub_proved(const D& a, const D& b) { return sub(a, b); }
  template <int Table>
  GDR_INLINE static D logic(const D& a, const D& b, const D& c) {
    return P::template logic_of<Table>(a, b, c);
  }

  /// Rounded to 25 bits, ties to even, the sign of a zero kept. Infinite and huge (2^995 and
  /// beyond) values become NaN or an infinity, which no sum or product turns into a number.
  ///
  /// With x in [2^e, 2^(e+1)), x 2^28 - x has its last place at 2^(e-24), where the short has it
  /// (at the bottom of the binade one lower, where x rounds to 2^e all the same); x 2^28 has none
  /// below it. So rounding the difference rounds x, and taking it from x 2^28 again is exact. At a
  /// tie x 2^28 is even, and the short's last bit that of the difference.
  GDR_INLINE static D round_short(const D& x) {
    const D far = set(0x1p28);
    return fms_round(nearest, x, far, fms_round(nearest, x, far, x));
  }

  template <bool Subtract>
  GDR_INLINE static D short_sum(const D& a, const D& b) {
    return Subtract ? sub_round(nearest, a, b) : add_round(nearest, a, b);
  }
  /// Exact, except for under- and overflow, which are rare and raise flags. The instruction with
  /// static rounding could not read an operand from memory.
  GDR_INLINE static D short_product(const D& a, const D& b) { return mul(a, b); }

  /// x = a + b (a - b) rounded as round_short does, whatever bits x has.
  ///
  /// Between two neighbouring doubles every number rounds to the same short, so that x may be taken
  /// for the middle of x rounded down and up; `wide` is 2^28 of the former. In round_short's steps
  /// wide - middle is then rounded, twice as large, and taken from `wide` again. x below 2^-1022 is
  /// exact and `high` a zero of its sign: it is taken for half of itself, and still becomes that
  /// zero. A sum 0 of numbers that are not, rounded down, is -0; wide - (wide - 0) is +0 for it.
  template <bool Subtract>
  GDR_INLINE static D rounded_sum(const D& a, const D& b) {
    const D scale = set(0x1p28);
    const D high = Subtract ? sub_round(up, a, b) : add_round(up, a, b);
    D wide;
    if (P::less_frequent(b, a)) {
      const D far = mul_round(nearest, b, scale);
      wide = Subtract ? fms_round(down, a, scale, far) : fma_round(down, a, scale, far);
    } else {
      const D far = mul_round(nearest, a, scale);
      wide = Subtract ? fnma_round(down, b, scale, far) : fma_round(down, b, scale, far);
    }
    const D twice = fms_round(nearest, wide, set(0x1p1 - 0x1p-28), high);
    return fnma_round(nearest, twice, set(0.5), wide);
  }

  /// s + e = a + b (a - b) exactly, s the nearest double to it.
  template <bool Subtract>
  GDR_INLINE static void two_sum(const D& a, const D& b, D& s, D& e) {
    s = short_sum<Subtract>(a, b);
    const D b_part = sub_round(nearest, s, a);
    const D a_part = sub_round(nearest, s, b_part);
    if constexpr (Subtract) {
      e = sub(sub(a, a_part), add(b, b_part));
    } else {
      e = add(sub(b, b_part), sub(a, a_part));
    }
  }
  /// s + t = a + tail + b (a + tail - b), the smaller of a and b added to the larger.
  template <bool Subtract>
  GDR_INLINE static void two_sum_tail(const D& a, const D& tail, const D& b, D& s, D& t) {
    const D c = Subtract ? xor_(b, set_bits(sign)) : b;
    const D big = P::larger(a, c);
    const D small = logic<0x96>(a, c, big);  // the other one, also if it is a NaN
    s = add_round(nearest, big, small);
    t = add(sub(small, sub(s, big)), tail);
  }
  /// The sum (difference) of two zeros is -0 if both (the first and the negated second) are; the
  /// steps above lose that sign. A sum of negative numbers is negative.
  template <bool Subtract>
  GDR_INLINE static D sum_sign(const D& h, const D& a, const D& b) {
    return or_(h, logic < Subtract ? 0x20 : 0x80 > (a, b, set_bits(sign)));
  }

  /// s + t rounded to odd.
  GDR_INLINE static D odd_tail(const D& s, const D& t) {
    const D v = add_round(truncate, s, t);
    return set_last(differ(sub(v, s), t), v);
  }

  /// s + t rounded to a long's 61 bits, as a pair. Cut to 53 bits, the sum has the exponent of the
  /// exact one; the rest is rounded where a long ends.
  GDR_INLINE static void round_long(const D& s, const D& t, D& h, D& l) {
    h = add_round(truncate, s, t);
    l = round_tail(h, sub(t, sub(h, s)));
  }
  /// The rest rounded where the long h + rest ends. h is cut, so it never becomes infinite:
  /// doubling it raises overflow from 2^1023 on, where h + rest may be beyond the largest long.
  GDR_INLINE static D round_tail(const D& h, const D& rest) {
    const D power = and_(add(h, h), set_bits(exponent));
    const D far = set(0x1.8p-9);
    return fma(power, far, fnma_round(nearest, power, far, rest));
  }

  /// t rounded where the long s + t ends, of which s need not be the head. For sums of a pair and a
  /// short: either s is rounded, and t small, or nothing is rounded, and t has few bits. If the
  /// long is below 2^-1022, s is below 2^-1013, and its scaled value underflows.
  GDR_INLINE static D round_unnormalized(const D& s, const D& t) {
    const D scaled = mul(s, set(0x1p-28));
    const D power = and_(fma_round(truncate, scaled, set(0x1p28), t), set_bits(exponent));
    const D far = set(0x1.8p-8);
    return fma(power, far, fnma_round(nearest, power, far, t));
  }

  /// The long a + tail + b (a + tail - b) as a pair; a is never -0, and b a short.
  template <bool Subtract>
  GDR_INLINE static void long_sum(const D& a, const D& tail, const D& b, D& h, D& l) {
    D s, t;
    two_sum_tail<Subtract>(a, tail, b, s, t);
    round_long(s, t, h, l);
  }
  /// The same for another such sum: h need not be the head, see round_unnormalized.
  template <bool Subtract>
  GDR_INLINE static void unnormalized_sum(const D& a, const D& tail, const D& b, D& h, D& l) {
    D t;
    two_sum_tail<Subtract>(a, tail, b, h, t);
    l = round_unnormalized(h, t);
  }

  /// The leading 53 bits of a pair, cut. A zero keeps its sign, which -0 + 0 would lose.
  GDR_INLINE static D head(const D& h, const D& l) {
    return logic<0xf8>(add_round(truncate, h, l), h, set_bits(sign));  // x | (h & sign)
  }

  /// a b rounded as round_short does, and as a pair. The product's error must be a double; taken
  /// from 2^28 p - p with it, the product is rounded once. Its sign is turned so that -0 stays -0.
  GDR_INLINE static D rounded_product(const D& a, const D& b) {
    const D p = mul_round(nearest, a, b);
    const D minus_error = fnma(a, b, p);
    return fms_round(nearest, p, set(0x1p28), fma_round(nearest, p, set(0x1p28 - 1), minus_error));
  }
  GDR_INLINE static void long_product(const D& a, const D& b, D& h, D& l) {
    h = mul_round(truncate, a, b);
    l = round_tail(h, fms(a, b, h));
  }
};

}  // namespace gdr
