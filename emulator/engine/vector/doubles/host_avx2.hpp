// Exact steps on doubles: AVX2, which always rounds to nearest and raises flags.
//
// What must be exact is either so by theorem (the error of a sum or product of doubles is a double)
// or tested, lane by lane; doubts are collected in a register. The host's flags still tell of
// overflow, underflow and invalid operations.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "emulator/engine/vector/doubles/batch.hpp"

namespace gdr {

/// Steps of one kernel and the doubts about them.
struct HostAvx2 {
  static constexpr unsigned proving_flags = 0x19;  ///< MXCSR: invalid, overflow, underflow

  static constexpr std::size_t vectors = 2;
  static constexpr std::size_t width = 4 * vectors;
  using V = __m256d;
  using D = Batch<V, vectors>;
  using M = D;  ///< lanes of ones or zeros
  static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  static constexpr std::uint64_t exponent = std::uint64_t{2047} << 52;

  D doubt = set(0);  ///< a lane with any bit but the sign set is in doubt
  bool failed() const { return any<1>(not_(bits_equal(magnitude(doubt), set(0)))) != 0; }

  static constexpr bool holds_lanes = true;  ///< and does not only write down what to do
  static void leave() { _mm256_zeroupper(); }

  GDR_INLINE static D load(const double* p) {
    return batch_of<vectors>([p](std::size_t k) GDR_INLINE { return _mm256_load_pd(p + 4 * k); });
  }
  GDR_INLINE static void store(double* p, const D& x) {
    for_each_of(x, [p](V v, std::size_t k) GDR_INLINE { _mm256_store_pd(p + 4 * k, v); });
  }
  static __m256i first(std::size_t n, std::size_t k) {
    const auto count = static_cast<long long>(n < 4 * k ? 0 : n - 4 * k);
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }
  /// The first `n` lanes from memory that ends there; the others are `rest`.
  GDR_INLINE static D load_some(const std::uint64_t* p, std::size_t n, std::uint64_t rest) {
    return batch_of<vectors>([=](std::size_t k) GDR_INLINE {
      const auto* lanes = reinterpret_cast<const long long*>(p + 4 * k);
      return _mm256_blendv_pd(from(_mm256_set1_epi64x(static_cast<long long>(rest))),
                              from(_mm256_maskload_epi64(lanes, first(n, k))), from(first(n, k)));
    });
  }
  static void store_some(std::uint64_t* p, std::size_t n, const D& x) {
    for_each_of(x, [=](V v, std::size_t k) GDR_INLINE {
      _mm256_maskstore_epi64(reinterpret_cast<long long*>(p + 4 * k), first(n, k), bits(v));
    });
  }
  GDR_INLINE static D set(double x) {
    return batch_of<vectors>([x](std::size_t) GDR_INLINE { return _mm256_set1_pd(x); });
  }
  GDR_INLINE static D set_bits(std::uint64_t x) {
    return batch_of<vectors>([x](std::size_t) GDR_INLINE {
      return from(_mm256_set1_epi64x(static_cast<long long>(x)));
    });
  }
  /// A word of the broadcast memory in all lanes.
  GDR_INLINE static D broadcast(const std::uint64_t* word) { return set_bits(*word); }

  static constexpr auto add = lift([](V a, V b) GDR_INLINE { return _mm256_add_pd(a, b); });
  static constexpr auto sub = lift([](V a, V b) GDR_INLINE { return _mm256_sub_pd(a, b); });
  static constexpr auto mul = lift([](V a, V b) GDR_INLINE { return _mm256_mul_pd(a, b); });
  static constexpr auto fma =
      lift([](V a, V b, V c) GDR_INLINE { return _mm256_fmadd_pd(a, b, c); });
  static constexpr auto fnma =
      lift([](V a, V b, V c) GDR_INLINE { return _mm256_fnmadd_pd(a, b, c); });
  static constexpr auto fms =
      lift([](V a, V b, V c) GDR_INLINE { return _mm256_fmsub_pd(a, b, c); });

  // --- bits
  GDR_INLINE static __m256i bits(V a) { return _mm256_castpd_si256(a); }
  GDR_INLINE static V from(__m256i a) { return _mm256_castsi256_pd(a); }
  static constexpr auto and_ = lift([](V a, V b) GDR_INLINE { return _mm256_and_pd(a, b); });
  static constexpr auto or_ = lift([](V a, V b) GDR_INLINE { return _mm256_or_pd(a, b); });
  static constexpr auto xor_ = lift([](V a, V b) GDR_INLINE { return _mm256_xor_pd(a, b); });
  static constexpr auto and_not = lift([](V a, V b) GDR_INLINE { return _mm256_andnot_pd(b, a); });

  /// A sum that must be exact: then each term is the difference of the sum and the other.
  GDR_INLINE D add_proved(const D& a, const D& b) {
    const D t = add(a, b);
    doubt = or_(doubt, or_(differ(sub(t, a), b), differ(sub(t, b), a)));
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
  /// The sum (difference) of two zeros is -0 if both (the first and the second's negative) are; the
  /// steps above lose that. A sum of negative numbers is negative anyhow.
  template <bool Subtract>
  GDR_INLINE static D sum_sign(const D& h, const D& a, const D& b) {
    const D both = Subtract ? and_not(a, b) : and_(a, b);
    return or_(h, and_(both, set_bits(sign)));
  }

  static constexpr auto differ =
      lift([](V a, V b) GDR_INLINE { return _mm256_cmp_pd(a, b, _CMP_NEQ_UQ); });

  /// s + e cut to the 53 bits nearest to zero (s is nearest to it), `rest` ones where e is not 0.
  GDR_INLINE static D truncated(const D& s, const D& e, D& rest) {
    rest = differ(e, set(0));
    return bits_sub(s, shr<63>(and_(xor_(s, e), rest)));
  }
  /// s + e rounded to odd: what rounds it again to fewer bits rounds the exact sum.
  GDR_INLINE static D to_odd(const D& s, const D& e) {
    D rest;
    const D cut = truncated(s, e, rest);
    return or_(cut, shr<63>(rest));
  }
  template <bool Subtract>
  GDR_INLINE static D odd_sum(const D& a, const D& b) {
    D s, e;
    two_sum<Subtract>(a, b, s, e);
    return to_odd(s, e);
  }
  GDR_INLINE static D odd_tail(const D& s, const D& t) { return odd_sum<false>(s, t); }
  GDR_INLINE static D odd_product(const D& a, const D& b) {
    const D p = mul(a, b);
    return to_odd(p, fms(a, b, p));
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
  /// The rest rounded where the long h + rest ends. Were h a power of two and the rest of the other
  /// sign, it would end elsewhere: a power of two with any rest is in doubt.
  GDR_INLINE D round_tail(const D& h, const D& rest) {
    const D power = and_(h, set_bits(exponent));
    doubt = or_(doubt, and_(bits_equal(power, magnitude(h)), rest));
    const D far = set(0x1.8p-8);
    return fma(power, far, fnma(power, far, rest));
  }

  /// The leading 53 bits of a pair, cut. A zero keeps its sign, which -0 + 0 would lose.
  GDR_INLINE static D head(const D& h, const D& l) {
    D s, e, rest;
    two_sum<false>(h, l, s, e);
    return or_(truncated(s, e, rest), and_(h, set_bits(sign)));
  }

  // --- comparisons and masks (lanes of the frame: all ones or zero)
  GDR_INLINE static M mask(const D& lanes) { return lanes; }
  GDR_INLINE static M not_(const M& m) { return xor_(m, set_bits(~std::uint64_t{0})); }
  GDR_INLINE static D ones(const M& m) { return m; }
  static constexpr auto both = and_;
  static constexpr auto either = or_;
  static constexpr auto select =
      lift([](V m, V yes, V no) GDR_INLINE { return _mm256_blendv_pd(no, yes, m); });
  template <std::uint64_t Failure>
  GDR_INLINE static unsigned any(const M& m) {
    int found = 0;
    for_each_of(m, [&found](V v, std::size_t) GDR_INLINE { found |= _mm256_movemask_pd(v); });
    return static_cast<unsigned>(found);
  }
  static constexpr auto less =
      lift([](V a, V b) GDR_INLINE { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); });
  static constexpr auto equal =
      lift([](V a, V b) GDR_INLINE { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); });
  static constexpr auto unordered =
      lift([](V a, V b) GDR_INLINE { return _mm256_cmp_pd(a, b, _CMP_UNORD_Q); });
  GDR_INLINE static D magnitude(const D& a) { return and_(a, set_bits(~sign)); }
  /// Not below 2^1024: infinite or not a number.
  GDR_INLINE static M beyond(const D& a) { return not_(less(magnitude(a), set_bits(exponent))); }
  static constexpr auto bits_equal =
      lift([](V a, V b) GDR_INLINE { return from(_mm256_cmpeq_epi64(bits(a), bits(b))); });
  static constexpr auto bits_less =
      lift([](V a, V b) GDR_INLINE { return from(_mm256_cmpgt_epi64(bits(b), bits(a))); });

  // --- integers
  static constexpr auto bits_add =
      lift([](V a, V b) GDR_INLINE { return from(_mm256_add_epi64(bits(a), bits(b))); });
  static constexpr auto bits_sub =
      lift([](V a, V b) GDR_INLINE { return from(_mm256_sub_epi64(bits(a), bits(b))); });
  template <int N>
  static constexpr auto shl = lift([](V a)
                                       GDR_INLINE { return from(_mm256_slli_epi64(bits(a), N)); });
  template <int N>
  static constexpr auto shr = lift([](V a)
                                       GDR_INLINE { return from(_mm256_srli_epi64(bits(a), N)); });
  static constexpr auto shlv =
      lift([](V a, V n) GDR_INLINE { return from(_mm256_sllv_epi64(bits(a), bits(n))); });
  static constexpr auto shrv =
      lift([](V a, V n) GDR_INLINE { return from(_mm256_srlv_epi64(bits(a), bits(n))); });
  /// Integers below 2^52 as doubles and back: the fraction of 2^52 + n is n.
  GDR_INLINE static D to_double(const D& a) { return sub(or_(a, set(0x1p52)), set(0x1p52)); }
  GDR_INLINE static D to_integer(const D& a) { return xor_(add(a, set(0x1p52)), set(0x1p52)); }
};

}  // namespace gdr
