// Floating-point operations on lanes by integers, for all formats.
#pragma once

#include "emulator/engine/lanes/float_words.hpp"

namespace gdr {

/// Exact for finite lanes; the caller repairs the others (FloatWords::special).
template <class L>
struct IntegerFloats {
  using V = typename L::V;
  using M = typename L::M;
  using Word = Word2<L>;
  using F = FloatWords<L>;

  /// a + b for finite lanes (the others are wrong and are repaired).
  ///
  /// The operand of the larger exponent has its significand in bits 62..2, so that a carry fits. An
  /// effective subtraction with an alignment shift moves both up by one, since it may lose a
  /// leading bit and then needs a third guard bit. With equal exponents nothing is lost, and bit 63
  /// must remain the sign of the difference.
  template <bool ALong, bool BLong, bool OutLong>
  static Word add(Word a, Word b) {
    const Fields<L> x = F::template unpack<ALong>(a);
    const Fields<L> y = F::template unpack<BLong>(b);
    const M swap = L::lt(x.exponent, y.exponent);
    const V big_exponent = L::select(swap, y.exponent, x.exponent);
    const V small_exponent = L::select(swap, x.exponent, y.exponent);
    const V big = L::template shl<2>(L::select(swap, y.significand, x.significand));
    const V small = L::template shl<2>(L::select(swap, x.significand, y.significand));
    const V big_sign = L::and_(L::select(swap, b.hi, a.hi), L::set(F::sign_bit));
    const V differ = L::and_(L::xor_(a.hi, b.hi), L::set(F::sign_bit));
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
    V sign = L::xor_(big_sign, L::keep(negative, L::set(F::sign_bit)));
    sign = L::select(L::both(nothing, subtract), zero, sign);  // x - x is +0
    return F::template round_pack<OutLong>(sign, exponent, L::shlv(sum, shift), nothing);
  }

  /// Normalize a product whose leading one is in bit 63 or 62, and pack.
  template <bool OutLong>
  static Word pack_product(Word a, Word b, V a_exponent, V b_exponent, V n) {
    const M top = L::lt(n, L::set(0));
    const V normalized = L::select(top, n, L::template shl<1>(n));
    V exponent = L::sub(L::add(a_exponent, b_exponent), L::set(1023));
    exponent = L::add(exponent, L::keep(top, L::set(1)));
    const V sign = L::and_(L::xor_(a.hi, b.hi), L::set(F::sign_bit));
    const M zero = L::either(L::eq(a_exponent, L::set(0)), L::eq(b_exponent, L::set(0)));
    return F::template round_pack<OutLong>(sign, exponent, normalized, zero);
  }

  static V jam(V n, V rest) { return L::or_(n, L::keep(L::ne(rest, L::set(0)), L::set(1))); }

  /// One pass: 50 bits of a by 25 of b, from two 25-bit halves of a. Zeros are recognised by their
  /// exponents.
  template <bool ALong, bool OutLong>
  static Word multiply_one_pass(Word a, Word b) {
    const Fields<L> x = F::template unpack<ALong>(a);
    const V mask = L::set((1U << 25) - 1);
    const V factor = L::and_or(b.hi, L::set(F::fraction_mask), L::set(F::fraction_mask + 1));
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
    return pack_product<OutLong>(a, b, x.exponent, F::exponent_of(b.hi), n);
  }

  /// Two passes: 50 bits of both, from four 25-bit products.
  template <bool ALong, bool BLong, bool OutLong>
  static Word multiply_two_passes(Word a, Word b) {
    const Fields<L> x = F::template unpack<ALong>(a);
    const Fields<L> y = F::template unpack<BLong>(b);
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
                                 jam(n, L::and_(tail, L::set(F::short_mask))));
  }

  /// The number itself in another format.
  template <bool ALong, bool OutLong>
  static Word convert(Word a) {
    const Fields<L> x = F::template unpack<ALong>(a);
    return F::template round_pack<OutLong>(L::and_(a.hi, L::set(F::sign_bit)), x.exponent,
                                           L::template shl<3>(x.significand),
                                           L::eq(x.exponent, L::set(0)));
  }
};

}  // namespace gdr
