// Exact steps on doubles: AVX-512, whose instructions round as they are told.
//
// An instruction with static rounding raises no exception flags, an ordinary one does. A step that
// may round is of the first kind; a step that must be exact for the result to be right is of the
// second. If the flags are still clear at the end of a run, every lane of it was exact.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "emulator/engine/vector/doubles/batch.hpp"

namespace gdr {

/// Steps of one kernel. `failed()` is for hosts that must look at every step; here flags tell.
struct HostAvx512 {
  static constexpr unsigned proving_flags = 0x39;  ///< MXCSR: invalid, overflow, underflow, inexact
  static bool failed() { return false; }

  static constexpr std::size_t vectors = 4;
  static constexpr std::size_t width = 8 * vectors;
  using V = __m512d;
  using B = __mmask8;
  using D = Batch<V, vectors>;
  using M = Batch<B, vectors>;

  static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  static constexpr std::uint64_t exponent = std::uint64_t{2047} << 52;

  static void leave() { _mm256_zeroupper(); }

  GDR_INLINE static D load(const double* p) {
    return batch_of<vectors>([p](std::size_t k) GDR_INLINE { return _mm512_load_pd(p + 8 * k); });
  }
  GDR_INLINE static void store(double* p, const D& x) {
    for_each_of(x, [p](V v, std::size_t k) GDR_INLINE { _mm512_store_pd(p + 8 * k, v); });
  }
  static B first(std::size_t n) { return static_cast<B>(n < 8 ? (1U << n) - 1 : 0xffU); }
  static B first(std::size_t n, std::size_t k) { return n > 8 * k ? first(n - 8 * k) : B{0}; }
  /// The first `n` lanes from memory that ends there; the others are `rest`.
  static D load_some(const std::uint64_t* p, std::size_t n, std::uint64_t rest) {
    return batch_of<vectors>([=](std::size_t k) GDR_INLINE {
      return from(_mm512_mask_loadu_epi64(_mm512_set1_epi64(static_cast<long long>(rest)),
                                          first(n, k), p + 8 * k));
    });
  }
  static void store_some(std::uint64_t* p, std::size_t n, const D& x) {
    for_each_of(x, [=](V v, std::size_t k)
                       GDR_INLINE { _mm512_mask_storeu_epi64(p + 8 * k, first(n, k), bits(v)); });
  }
  GDR_INLINE static D set(double x) {
    return batch_of<vectors>([x](std::size_t) GDR_INLINE { return _mm512_set1_pd(x); });
  }
  GDR_INLINE static D set_bits(std::uint64_t x) {
    return batch_of<vectors>(
        [x](std::size_t) GDR_INLINE { return from(_mm512_set1_epi64(static_cast<long long>(x))); });
  }
  GDR_INLINE static __m512i bits(V a) { return _mm512_castpd_si512(a); }
  GDR_INLINE static V from(__m512i a) { return _mm512_castsi512_pd(a); }

  // --- steps that must be exact
  static constexpr auto add = lift([](V a, V b) GDR_INLINE { return _mm512_add_pd(a, b); });
  static constexpr auto sub = lift([](V a, V b) GDR_INLINE { return _mm512_sub_pd(a, b); });
  static constexpr auto mul = lift([](V a, V b) GDR_INLINE { return _mm512_mul_pd(a, b); });
  static constexpr auto fma =
      lift([](V a, V b, V c) GDR_INLINE { return _mm512_fmadd_pd(a, b, c); });
  static constexpr auto fms =
      lift([](V a, V b, V c) GDR_INLINE { return _mm512_fmsub_pd(a, b, c); });
  GDR_INLINE static D add_proved(const D& a, const D& b) { return add(a, b); }
  GDR_INLINE static D sub_proved(const D& a, const D& b) { return sub(a, b); }

  // --- steps that round
  static constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  static constexpr int down = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
  static constexpr int up = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;
  static constexpr int truncate = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
  template <int Mode>
  static constexpr auto add_round = lift([](V a, V b) GDR_INLINE {
    return _mm512_add_round_pd(a, b, Mode);
  });
  template <int Mode>
  static constexpr auto sub_round = lift([](V a, V b) GDR_INLINE {
    return _mm512_sub_round_pd(a, b, Mode);
  });
  template <int Mode>
  static constexpr auto mul_round = lift([](V a, V b) GDR_INLINE {
    return _mm512_mul_round_pd(a, b, Mode);
  });
  template <int Mode>
  static constexpr auto fma_round = lift([](V a, V b, V c) GDR_INLINE {
    return _mm512_fmadd_round_pd(a, b, c, Mode);
  });
  template <int Mode>
  static constexpr auto fnma_round = lift([](V a, V b, V c) GDR_INLINE {
    return _mm512_fnmadd_round_pd(a, b, c, Mode);
  });

  // --- bits
  static constexpr auto and_ =
      lift([](V a, V b) GDR_INLINE { return from(_mm512_and_si512(bits(a), bits(b))); });
  static constexpr auto or_ =
      lift([](V a, V b) GDR_INLINE { return from(_mm512_or_si512(bits(a), bits(b))); });
  static constexpr auto xor_ =
      lift([](V a, V b) GDR_INLINE { return from(_mm512_xor_si512(bits(a), bits(b))); });
  template <int Table>
  static constexpr auto logic = lift([](V a, V b, V c) GDR_INLINE {
    return from(_mm512_ternarylogic_epi64(bits(a), bits(b), bits(c), Table));
  });

  /// Rounded to 25 bits, ties to even, the sign of a zero kept. Infinite and huge (2^995 and
  /// beyond) values become NaN or an infinity, which no sum or product turns into a number.
  ///
  /// x - 1.5 2^(e+28) has its last place where the short has it; its rounding is the short's.
  /// Adding the constant again is exact; rounding down there gives a zero the sign of x.
  GDR_INLINE static D round_short(const D& x) {
    const D power = and_(x, set_bits(exponent));
    const D far = set(0x1.8p28);
    return fma_round<down>(power, far, fnma_round<nearest>(power, far, x));
  }

  template <bool Subtract>
  GDR_INLINE static D short_sum(const D& a, const D& b) {
    return Subtract ? sub_round<nearest>(a, b) : add_round<nearest>(a, b);
  }
  /// Exact but for under- and overflow, whose flags send the run to the integers: rare, and the
  /// ordinary instruction takes an operand from memory, which the one with static rounding cannot.
  GDR_INLINE static D short_product(const D& a, const D& b) { return mul(a, b); }

  /// a + b (a - b) rounded to odd: what rounds it again to fewer bits rounds the exact sum.
  template <bool Subtract>
  GDR_INLINE static D odd_sum(const D& a, const D& b) {
    const D low = Subtract ? sub_round<down>(a, b) : add_round<down>(a, b);
    const D high = Subtract ? sub_round<up>(a, b) : add_round<up>(a, b);
    static constexpr auto odd_one = lift([](V x, V y) GDR_INLINE {
      const B odd = _mm512_test_epi64_mask(bits(x), _mm512_set1_epi64(1));
      return _mm512_mask_blend_pd(odd, y, x);
    });
    return odd_one(low, high);
  }

  /// s + e = a + b (a - b) exactly, s the nearest double to it.
  template <bool Subtract>
  GDR_INLINE static void two_sum(const D& a, const D& b, D& s, D& e) {
    s = short_sum<Subtract>(a, b);
    const D b_part = sub_round<nearest>(s, a);
    const D a_part = sub_round<nearest>(s, b_part);
    if constexpr (Subtract) {
      e = sub(sub(a, a_part), add(b, b_part));
    } else {
      e = add(sub(b, b_part), sub(a, a_part));
    }
  }
  /// s + t = a + tail + b (a + tail - b), the smaller of a and b added to the larger.
  template <bool Subtract>
  GDR_INLINE static void two_sum_tail(const D& a, const D& tail, const D& b, D& s, D& t) {
    static constexpr auto larger =
        lift([](V x, V y) GDR_INLINE { return _mm512_range_pd(x, y, 0x7); });
    const D c = Subtract ? xor_(b, set_bits(sign)) : b;
    const D big = larger(a, c);
    const D small = logic<0x96>(a, c, big);  // the other one; a NaN too, which `larger` passes over
    s = add_round<nearest>(big, small);
    t = add(sub(small, sub(s, big)), tail);
  }
  /// The sum (difference) of two zeros is -0 if both (the first and the second's negative) are; the
  /// steps above lose that. A sum of negative numbers is negative anyhow.
  template <bool Subtract>
  GDR_INLINE static D sum_sign(const D& h, const D& a, const D& b) {
    return or_(h, logic < Subtract ? 0x20 : 0x80 > (a, b, set_bits(sign)));
  }

  /// x with its last bit set where the mask says so.
  static constexpr auto set_last = lift([](B m, V x) GDR_INLINE {
    return from(_mm512_mask_or_epi64(bits(x), m, bits(x), _mm512_set1_epi64(1)));
  });
  static constexpr auto differ =
      lift([](V a, V b) GDR_INLINE { return _mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ); });

  /// s + t rounded to odd.
  GDR_INLINE static D odd_tail(const D& s, const D& t) {
    const D v = add_round<truncate>(s, t);
    return set_last(differ(sub(v, s), t), v);
  }

  /// s + t rounded to a long's 61 bits, as a pair. Cut to 53 bits, the sum has the exponent of the
  /// exact one; the rest is rounded where a long ends.
  GDR_INLINE static void round_long(const D& s, const D& t, D& h, D& l) {
    h = add_round<truncate>(s, t);
    l = round_tail(h, sub(t, sub(h, s)));
  }
  GDR_INLINE static D round_tail(const D& h, const D& rest) {
    const D power = and_(h, set_bits(exponent));
    const D far = set(0x1.8p-8);
    return fma(power, far, fnma_round<nearest>(power, far, rest));
  }

  /// The leading 53 bits of a pair, cut. A zero keeps its sign, which -0 + 0 would lose.
  GDR_INLINE static D head(const D& h, const D& l) {
    return logic<0xf8>(add_round<truncate>(h, l), h, set_bits(sign));  // x | (h & sign)
  }

  /// a b rounded to odd, and as a pair; the error of the cut product must be a double.
  GDR_INLINE static D odd_product(const D& a, const D& b) {
    const D p = mul_round<truncate>(a, b);
    return set_last(differ(fms(a, b, p), set(0)), p);
  }
  GDR_INLINE static void long_product(const D& a, const D& b, D& h, D& l) {
    h = mul_round<truncate>(a, b);
    l = round_tail(h, fms(a, b, h));
  }

  // --- comparisons and masks (lanes of the frame: all ones or zero)
  static constexpr auto mask =
      lift([](V lanes) GDR_INLINE { return _mm512_test_epi64_mask(bits(lanes), bits(lanes)); });
  static constexpr auto not_ = lift([](B m) GDR_INLINE { return static_cast<B>(~m); });
  static constexpr auto both = lift([](B a, B b) GDR_INLINE { return static_cast<B>(a & b); });
  static constexpr auto either = lift([](B a, B b) GDR_INLINE { return static_cast<B>(a | b); });
  static constexpr auto ones = lift([](B m) GDR_INLINE { return from(_mm512_movm_epi64(m)); });
  static constexpr auto select =
      lift([](B m, V yes, V no) GDR_INLINE { return _mm512_mask_blend_pd(m, no, yes); });
  GDR_INLINE static unsigned any(const M& m) {
    unsigned found = 0;
    for_each_of(m, [&found](B b, std::size_t) GDR_INLINE { found |= b; });
    return found;
  }
  static constexpr auto less =
      lift([](V a, V b) GDR_INLINE { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); });
  static constexpr auto equal =
      lift([](V a, V b) GDR_INLINE { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); });
  static constexpr auto unordered =
      lift([](V a, V b) GDR_INLINE { return _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q); });
  GDR_INLINE static D magnitude(const D& a) { return and_(a, set_bits(~sign)); }
  /// Not below 2^1024: infinite or not a number.
  GDR_INLINE static M beyond(const D& a) { return not_(less(magnitude(a), set_bits(exponent))); }
  static constexpr auto bits_equal =
      lift([](V a, V b) GDR_INLINE { return _mm512_cmpeq_epi64_mask(bits(a), bits(b)); });
  static constexpr auto bits_less =
      lift([](V a, V b) GDR_INLINE { return _mm512_cmplt_epi64_mask(bits(a), bits(b)); });

  // --- integers
  static constexpr auto bits_add =
      lift([](V a, V b) GDR_INLINE { return from(_mm512_add_epi64(bits(a), bits(b))); });
  static constexpr auto bits_sub =
      lift([](V a, V b) GDR_INLINE { return from(_mm512_sub_epi64(bits(a), bits(b))); });
  template <int N>
  static constexpr auto shl = lift([](V a)
                                       GDR_INLINE { return from(_mm512_slli_epi64(bits(a), N)); });
  template <int N>
  static constexpr auto shr = lift([](V a)
                                       GDR_INLINE { return from(_mm512_srli_epi64(bits(a), N)); });
  static constexpr auto shlv =
      lift([](V a, V n) GDR_INLINE { return from(_mm512_sllv_epi64(bits(a), bits(n))); });
  static constexpr auto shrv =
      lift([](V a, V n) GDR_INLINE { return from(_mm512_srlv_epi64(bits(a), bits(n))); });
  /// Integers below 2^52 as doubles and back.
  static constexpr auto to_double =
      lift([](V a) GDR_INLINE { return _mm512_cvtepi64_pd(bits(a)); });
  static constexpr auto to_integer =
      lift([](V a) GDR_INLINE { return from(_mm512_cvttpd_epi64(a)); });
};

}  // namespace gdr
