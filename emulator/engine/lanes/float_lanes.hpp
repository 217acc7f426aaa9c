// Floating-point operations on lanes, exact by integers; short ones exact by the host's doubles.
//
// A word is a pair of lanes: hi = sign [35], exponent [34:24], fraction [23:0], and lo = the 36
// fraction bits below (a short has no lo). A significand is a 64-bit lane: 61 bits and three guard
// bits, of which the last is sticky.
#pragma once

#include "emulator/engine/lanes/strip.hpp"

namespace gdr {

/// Lanes of a word being worked on.
template <class L>
struct Word2 {
  typename L::V hi, lo;
};

/// Fields of a finite number: significand of 61 bits (0 for a zero), biased exponent.
template <class L>
struct Fields {
  typename L::V exponent, significand;
};

template <class L>
struct FloatLanes {
  using V = typename L::V;
  using M = typename L::M;
  using Word = Word2<L>;

  static constexpr std::uint64_t short_mask = (std::uint64_t{1} << 36) - 1;
  static constexpr std::uint64_t sign_bit = std::uint64_t{1} << 35;
  static constexpr std::uint64_t fraction_mask = (std::uint64_t{1} << 24) - 1;
  static constexpr std::uint64_t infinity_hi = std::uint64_t{2047} << 24;
  static constexpr std::uint64_t nan_hi = infinity_hi | (std::uint64_t{1} << 23);

  static V exponent_of(V hi) { return L::and_(L::template shr<24>(hi), L::set(2047)); }

  template <bool IsLong>
  static Fields<L> unpack(Word w) {
    const V exponent = exponent_of(w.hi);
    const V leading = L::and_or(w.hi, L::set(fraction_mask), L::set(fraction_mask + 1));
    V significand = L::template shl<36>(leading);
    if constexpr (IsLong) significand = L::or_(significand, w.lo);
    return {exponent, L::keep(L::ne(exponent, L::set(0)), significand)};
  }

  /// Rounds once and packs. `n` is normalized (leading one in bit 63, sticky below), `exponent` its
  /// biased exponent before rounding; `zero` forces a zero of the sign. A carry out of the rounded
  /// fraction increments the exponent.
  template <bool IsLong>
  static Word round_pack(V sign, V exponent, V n, M zero) {
    constexpr int cut = IsLong ? 3 : 39;
    const V kept = L::template shr<cut>(n);
    const V rest = L::and_(n, L::set((std::uint64_t{1} << cut) - 1));
    const V odd = L::and_(kept, L::set(1));
    const V half = L::set((std::uint64_t{1} << (cut - 1)) - 1);
    const V up = L::template shr<cut>(L::add(L::add(rest, odd), half));
    const V rounded = L::add(kept, up);
    // Subtracting the leading one here leaves the fraction, from 0 to one above its largest.
    const M underflow = L::either(zero, L::lt(exponent, L::set(1)));
    const V field = L::template shl<24>(exponent);
    Word out;
    if constexpr (IsLong) {
      const V fraction = L::sub(rounded, L::set(std::uint64_t{1} << 60));
      out.hi = L::add(field, L::template shr<36>(fraction));
      out.lo = L::and_(fraction, L::set(short_mask));
    } else {
      out.hi = L::add(field, L::sub(rounded, L::set(std::uint64_t{1} << 24)));
      out.lo = L::set(0);
    }
    const M overflow = L::lt(L::set(infinity_hi - 1), out.hi);
    out.hi = L::select(overflow, L::set(infinity_hi), out.hi);
    out.hi = L::select(underflow, L::set(0), out.hi);
    out.hi = L::or_(out.hi, sign);
    if constexpr (IsLong) out.lo = L::select(L::either(overflow, underflow), L::set(0), out.lo);
    return out;
  }

  /// a + b for finite lanes (the others are wrong and are repaired).
  ///
  /// The operand of the larger exponent has its significand in bits 62..2, so that a carry fits. An
  /// effective subtraction with an alignment shift moves both up by one, since it may lose a
  /// leading bit and then needs a third guard bit. With equal exponents nothing is lost, and bit 63
  /// must remain the sign of the difference.
  template <bool ALong, bool BLong, bool OutLong>
  static Word add(Word a, Word b) {
    const Fields<L> x = unpack<ALong>(a);
    const Fields<L> y = unpack<BLong>(b);
    const M swap = L::lt(x.exponent, y.exponent);
    const V big_exponent = L::select(swap, y.exponent, x.exponent);
    const V small_exponent = L::select(swap, x.exponent, y.exponent);
    const V big = L::template shl<2>(L::select(swap, y.significand, x.significand));
    const V small = L::template shl<2>(L::select(swap, x.significand, y.significand));
    const V big_sign = L::and_(L::select(swap, b.hi, a.hi), L::set(sign_bit));
    const V differ = L::and_(L::xor_(a.hi, b.hi), L::set(sign_bit));
    const V distance = L::sub(big_exponent, small_exponent);
    const M subtract = L::ne(differ, L::set(0));
    const V up = L::keep(L::both(subtract, L::ne(distance, L::set(0))), L::set(1));

    const V moved = L::shlv(small, up);
    V aligned = L::shrv(moved, distance);
    const M lost = L::ne(L::shlv(aligned, distance), moved);
    aligned = L::or_(aligned, L::keep(lost, L::set(1)));
    const V zero = L::set(0);
    V sum = L::add(L::shlv(big, up), L::select(subtract, L::sub(zero, aligned), aligned));
    // Only equal exponents can leave a negative difference; only then is bit 63 a sign.
    const M negative = L::both(subtract, L::both(L::lt(sum, zero), L::eq(up, zero)));
    sum = L::select(negative, L::sub(zero, sum), sum);

    const V shift = L::leading_zeros(sum);
    const M nothing = L::eq(sum, zero);
    const V exponent = L::sub(L::sub(L::add(big_exponent, L::set(1)), shift), up);
    V sign = L::xor_(big_sign, L::keep(negative, L::set(sign_bit)));
    sign = L::select(L::both(nothing, subtract), zero, sign);  // x - x is +0
    return round_pack<OutLong>(sign, exponent, L::shlv(sum, shift), nothing);
  }

  /// Normalize a product whose leading one is in bit 63 or 62, and pack.
  template <bool OutLong>
  static Word pack_product(Word a, Word b, V a_exponent, V b_exponent, V n) {
    const M top = L::lt(n, L::set(0));
    const V normalized = L::select(top, n, L::template shl<1>(n));
    V exponent = L::sub(L::add(a_exponent, b_exponent), L::set(1023));
    exponent = L::add(exponent, L::keep(top, L::set(1)));
    const V sign = L::and_(L::xor_(a.hi, b.hi), L::set(sign_bit));
    const M zero = L::either(L::eq(a_exponent, L::set(0)), L::eq(b_exponent, L::set(0)));
    return round_pack<OutLong>(sign, exponent, normalized, zero);
  }

  static V jam(V n, V rest) { return L::or_(n, L::keep(L::ne(rest, L::set(0)), L::set(1))); }

  /// One pass: 50 bits of a by 25 of b, from two 25-bit halves of a. Zeros are recognised by their
  /// exponents.
  template <bool ALong, bool OutLong>
  static Word multiply_one_pass(Word a, Word b) {
    const Fields<L> x = unpack<ALong>(a);
    const V mask = L::set((1U << 25) - 1);
    const V factor = L::and_or(b.hi, L::set(fraction_mask), L::set(fraction_mask + 1));
    const V upper = L::template shr<36>(x.significand);
    V n = L::template shl<14>(L::mul32(upper, factor));
    if constexpr (ALong) {
      const V lower = L::and_(L::template shr<11>(x.significand), mask);
      const V low = L::mul32(lower, factor);
      const V sum = L::add(L::mul32(upper, factor), L::template shr<25>(low));
      const V tail = L::and_(low, mask);
      n = L::or_(L::template shl<14>(sum), L::template shr<11>(tail));
      n = jam(n, L::and_(tail, L::set((1U << 11) - 1)));
    }
    return pack_product<OutLong>(a, b, x.exponent, exponent_of(b.hi), n);
  }

  /// Two passes: 50 bits of both, from four 25-bit products.
  template <bool ALong, bool BLong, bool OutLong>
  static Word multiply_two_passes(Word a, Word b) {
    const Fields<L> x = unpack<ALong>(a);
    const Fields<L> y = unpack<BLong>(b);
    const V mask = L::set((1U << 25) - 1);
    const V x1 = L::template shr<36>(x.significand);
    const V x0 = L::and_(L::template shr<11>(x.significand), mask);
    const V y1 = L::template shr<36>(y.significand);
    const V y0 = L::and_(L::template shr<11>(y.significand), mask);
    const V low = L::mul32(x0, y0);
    const V middle = L::add(L::add(L::mul32(x1, y0), L::mul32(x0, y1)), L::template shr<25>(low));
    const V high = L::add(L::mul32(x1, y1), L::template shr<25>(middle));
    // 100 bits: high (50), then 25 of middle, then 25 of low.
    const V tail = L::or_(L::template shl<25>(L::and_(middle, mask)), L::and_(low, mask));
    const V n = L::or_(L::template shl<14>(high), L::template shr<36>(tail));
    return pack_product<OutLong>(a, b, x.exponent, y.exponent,
                                 jam(n, L::and_(tail, L::set(short_mask))));
  }

  /// The number itself in another format.
  template <bool ALong, bool OutLong>
  static Word convert(Word a) {
    const Fields<L> x = unpack<ALong>(a);
    return round_pack<OutLong>(L::and_(a.hi, L::set(sign_bit)), x.exponent,
                               L::template shl<3>(x.significand), L::eq(x.exponent, L::set(0)));
  }

  static M special(Word a, Word b) {
    const V top = L::set(2047);
    return L::either(L::eq(exponent_of(a.hi), top), L::eq(exponent_of(b.hi), top));
  }

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
    return L::select(tie, L::and_(r, L::set(short_mask - 1)), r);
  }

  /// A double rounded to short. Rounding a sum first to 53, then to 25 bits is exact, since 53 is
  /// at least 2 x 25 + 2. A carry from rounding up overflows to infinity.
  static V short_from_double(V d) {
    return L::select(L::is_nan(d), L::set(nan_hi), round_to_short(d));
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
    if constexpr (!Subtract) b.hi = L::xor_(b.hi, L::set(sign_bit));  // a - (-b)
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
    if constexpr (Subtract) b.hi = L::xor_(b.hi, L::set(sign_bit));
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
    const V moved_out = L::and_(L::xor_(carried, cut), L::set(infinity_hi));
    // A power of two may be what s was rounded up to: then the places are half as large.
    const M same_binade = L::both(L::eq(moved_out, none), L::ne(s, power));
    const M sure = L::both(L::both(in_range, same_binade),
                           L::both(L::either(a_zero, a_near), L::either(b_zero, b_near)));
    const M zero = L::both(a_zero, b_zero);
    out.hi = L::select(zero, cut, carried);
    out.lo = L::select(zero, none, L::and_(low, L::set(short_mask)));
    return L::not_(L::either(sure, zero));
  }

  /// An exact product of shorts as a long.
  static Word long_from_double(V d) {
    const M nan = L::is_nan(d);
    const V lo = L::template shl<8>(L::and_(d, L::set((1U << 28) - 1)));
    return {L::select(nan, L::set(nan_hi), L::template shr<28>(d)), L::select(nan, L::set(0), lo)};
  }
};

}  // namespace gdr
