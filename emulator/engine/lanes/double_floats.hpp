// Floating-point operations on lanes by the host's doubles, where these are exact or their errors
// are known.
#pragma once

#include "emulator/engine/lanes/float_words.hpp"

namespace gdr {

/// Sums and products of which one operand at least is a short, or whose result is.
template <class L>
struct DoubleFloats {
  using V = typename L::V;
  using M = typename L::M;
  using Word = Word2<L>;
  using F = FloatWords<L>;

  // Shorts as doubles: the upper 36 bits, the rest zero. With zeros for subnormals on both sides
  // (FTZ and DAZ), the double operation underflows by the exact value: a product of two 25-bit
  // significands is exact, and so is a sum below 2^-1022.

  static V as_double(V hi) { return L::template shl<28>(hi); }

  /// The bits of a double rounded to 25 significant bits: half is added, and a tie made even.
  /// (Adding the shifted-out last bit instead would cost more shifts.)
  static V round_to_short(V d) {
    const V half = L::set(1U << 27);
    const V r = L::template shr<28>(L::add(d, half));
    const M tie = L::eq(L::and_(d, L::set((1U << 28) - 1)), half);
    return L::select(tie, L::and_(r, L::set(F::short_mask - 1)), r);
  }

  /// A double rounded to short. Rounding a sum first to 53, then to 25 bits is exact, since 53 is
  /// at least 2 x 25 + 2. A carry from rounding up overflows to infinity.
  static V short_from_double(V d) {
    return L::select(L::is_nan(d), L::set(F::nan_hi), round_to_short(d));
  }

  /// The exponent field of a double, not shifted, and a number of binades in the same position.
  static V exponent_in_place(V d) { return L::and_(d, L::set(0x7ff0000000000000)); }
  static constexpr std::uint64_t place(std::uint64_t binades) { return binades << 52; }

  /// A long as doubles: its value cut to 53 bits, and 256 times the rest, of the same sign.
  struct Pair {
    V upper, rest;
  };
  template <bool IsLong>
  static Pair pair_of(Word w) {
    if constexpr (!IsLong) {
      return {as_double(w.hi), L::set(0)};
    } else {
      const V upper = L::or_(L::template shl<28>(w.hi), L::template shr<8>(w.lo));
      // 2^e (1 + n 2^-52) - 2^e is n times the last place of `upper`; n 2^-60 is what was cut.
      const V power = L::and_(upper, L::set(0xfff0000000000000));
      return {upper, L::sub_double(L::and_or(w.lo, L::set(255), power), power)};
    }
  }

  /// a + b or a - b as a short (in `out`), and the lanes where it may be inexact.
  ///
  /// The sum of the upper parts with its error (two-sum) and the rests is rounded to 53 bits: the
  /// result is within one unit of its last place of the exact sum. Rounding it to 25 bits then
  /// gives what rounding the exact sum gives, unless it lies within one unit of a tie; these lanes
  /// are inexact. So are those where a part may have left the range of doubles: where the result is
  /// tiny, or infinite or NaN. Equal operands leave an exact zero.
  template <bool ALong, bool BLong, bool Subtract>
  static M add_to_short(Word a, Word b, V& out) {
    if constexpr (!Subtract) b.hi = L::xor_(b.hi, L::set(F::sign_bit));  // a - (-b)
    const Pair x = pair_of<ALong>(a);
    const Pair y = pair_of<BLong>(b);
    const V s = L::sub_double(x.upper, y.upper);
    const V moved = L::sub_double(s, x.upper);  // the part of -y in s
    const V error = L::sub_double(L::sub_double(x.upper, L::sub_double(s, moved)),
                                  L::add_double(y.upper, moved));
    const V rest = L::sub_double(x.rest, y.rest);
    const V sum = L::add_double(s, L::fma_double(rest, L::set(0x3f70000000000000), error));

    out = round_to_short(sum);

    const M in_range = L::lt_unsigned(L::sub(exponent_in_place(sum), L::set(place(128))),
                                      L::set(place(2047 - 128)));
    const V from_tie = L::and_(L::sub(sum, L::set((1U << 27) - 1)), L::set((1U << 28) - 1));
    const M no_tie = L::lt(L::set(2), from_tie);
    M equal = L::eq(a.hi, b.hi);
    if constexpr (ALong || BLong) equal = L::both(equal, L::eq(a.lo, b.lo));
    const M zero = L::both(equal, L::eq(sum, L::set(0)));
    return L::not_(L::either(L::both(in_range, no_tie), zero));
  }

  /// a + b or a - b (b short) as a long, and the lanes where that may be wrong.
  ///
  /// s and its error (two-sum) hold the sum of the upper parts; error and rest together are the
  /// tail, which is exact while the exponents of the operands are not too far apart. Adding a large
  /// power of two of s's sign rounds the tail to the 61st bit of s, ties to even (s itself is a
  /// multiple of twice that), and leaves the count of these last places in its bits. If adding them
  /// moves s out of its binade, they had the wrong size: inexact, like results near the ends of the
  /// range. Two zeros leave the zero that s is.
  template <bool Subtract>
  static M add_to_long(Word a, Word b, Word& out) {
    if constexpr (Subtract) b.hi = L::xor_(b.hi, L::set(F::sign_bit));
    const Pair x = pair_of<true>(a);
    const V y = as_double(b.hi);
    const V s = L::add_double(x.upper, y);
    const V moved = L::sub_double(s, x.upper);
    const V error =
        L::add_double(L::sub_double(x.upper, L::sub_double(s, moved)), L::sub_double(y, moved));
    const V tail = L::fma_double(x.rest, L::set(0x3f70000000000000), error);
    const V power = L::and_(s, L::set(0xfff0000000000000));
    const V magic = L::add(power, L::set((std::uint64_t{1} << 51) - (std::uint64_t{8} << 52)));
    const V places = L::sub(L::add_double(tail, magic), magic);

    // 2^40 keeps the sum positive while the carry or borrow is taken out of it.
    const V low = L::add(L::template shl<8>(L::and_(s, L::set((1U << 28) - 1))),
                         L::add(places, L::set(std::uint64_t{1} << 40)));
    const V cut = L::template shr<28>(s);
    const V carried = L::add(cut, L::sub(L::template shr<36>(low), L::set(16)));

    const V es = exponent_in_place(s);
    const V ea = exponent_in_place(x.upper);
    const V eb = exponent_in_place(y);
    const V none = L::set(0);
    const M a_zero = L::eq(ea, none);
    const M b_zero = L::eq(eb, none);
    const M a_near = L::lt_unsigned(L::add(L::sub(es, ea), L::set(place(2))), L::set(place(42)));
    const M b_near = L::lt(L::sub(es, eb), L::set(place(76)));
    const M in_range = L::lt_unsigned(L::sub(es, L::set(place(128))), L::set(place(2046 - 128)));
    const V moved_out = L::and_(L::xor_(carried, cut), L::set(F::infinity_hi));
    // A power of two may be what s was rounded up to: then the places are half as large.
    const M same_binade = L::both(L::eq(moved_out, none), L::ne(s, power));
    const M sure = L::both(L::both(in_range, same_binade),
                           L::both(L::either(a_zero, a_near), L::either(b_zero, b_near)));
    const M zero = L::both(a_zero, b_zero);
    out.hi = L::select(zero, cut, carried);
    out.lo = L::select(zero, none, L::and_(low, L::set(F::short_mask)));
    return L::not_(L::either(sure, zero));
  }

  /// An exact product of shorts as a long.
  static Word long_from_double(V d) {
    const M nan = L::is_nan(d);
    const V lo = L::template shl<8>(L::and_(d, L::set((1U << 28) - 1)));
    return {L::select(nan, L::set(F::nan_hi), L::template shr<28>(d)),
            L::select(nan, L::set(0), lo)};
  }
};

}  // namespace gdr
