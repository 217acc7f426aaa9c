// Floating-point words on lanes: their format, fields and rounding.
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

/// Fields of words, and words of fields.
template <class L>
struct FloatWords {
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

  static M special(Word a, Word b) {
    const V top = L::set(2047);
    return L::either(L::eq(exponent_of(a.hi), top), L::eq(exponent_of(b.hi), top));
  }
};

}  // namespace gdr
