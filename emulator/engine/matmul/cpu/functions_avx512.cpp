// Matrix products for AVX-512; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include "emulator/engine/matmul/cpu/exact.hpp"
#include "emulator/engine/matmul/cpu/fast.hpp"

namespace gdr {
namespace {

struct Avx512 {
  using V = __m512d;
  using M = __mmask8;
  static constexpr Isa isa = Isa::Avx512;
  static constexpr std::size_t width = 8;
  static constexpr bool exponents_ahead = false, has_exponent_estimates = false;
  static constexpr int towards_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;

  static V load(const double* p) { return _mm512_loadu_pd(p); }
  static void store(double* p, V x) { _mm512_storeu_pd(p, x); }
  static V all(double x) { return _mm512_set1_pd(x); }
  static V add(V a, V b) { return _mm512_add_pd(a, b); }
  static V sub(V a, V b) { return _mm512_sub_pd(a, b); }
  static V mul(V a, V b) { return _mm512_mul_pd(a, b); }
  static V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
  static V fms(V a, V b, V c) { return _mm512_fmsub_pd(a, b, c); }
  static V fnma(V a, V b, V c) { return _mm512_fnmadd_pd(a, b, c); }
  static V max(V a, V b) { return _mm512_max_pd(a, b); }
  static M zero(V x) { return _mm512_cmp_pd_mask(x, all(0), _CMP_EQ_OQ); }
  static M nonzero(V x) { return _mm512_cmp_pd_mask(x, all(0), _CMP_NEQ_UQ); }
  static M less(V a, V b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
  /// Zero in lanes in which both are zero.
  static V bits_of(V a, V b) {
    return _mm512_castsi512_pd(_mm512_or_epi64(_mm512_castpd_si512(a), _mm512_castpd_si512(b)));
  }
  /// x + rest rounded to odd, for a rest below x's last bit.
  static V to_odd(V x, V rest) {
    const __m512i bits = _mm512_castpd_si512(x), one = _mm512_set1_epi64(1);
    const __m512i apart = _mm512_xor_epi64(bits, _mm512_castpd_si512(rest));
    const M move = static_cast<M>(_mm512_testn_epi64_mask(bits, one) & nonzero(rest));
    const M down = static_cast<M>(move & _mm512_movepi64_mask(apart));
    __m512i odd = _mm512_mask_add_epi64(bits, static_cast<M>(move & ~down), bits, one);
    odd = _mm512_mask_sub_epi64(odd, down, bits, one);
    return select(zero(x), rest, _mm512_castsi512_pd(odd));
  }
  static bool any(M m) { return m != 0; }
  static V select(M m, V yes, V no) { return _mm512_mask_blend_pd(m, no, yes); }

  static V exponent(V x) {
    return _mm512_castsi512_pd(
        _mm512_and_epi64(_mm512_castpd_si512(x), _mm512_set1_epi64(0x7ff0'0000'0000'0000)));
  }
  /// 2^e of the exact product, 0 of zero.
  static V exponent_of_product(V a, V b) {
    return exponent(_mm512_mul_round_pd(a, b, towards_zero));
  }
  static V exponent_of_product(V a, V b, V /*most*/) { return exponent_of_product(a, b); }
  static V exponent_of_sum(V a, V b) { return exponent(_mm512_add_round_pd(a, b, towards_zero)); }

  static double power(int e) {
    return _mm_cvtsd_f64(_mm_castsi128_pd(_mm_set1_epi64x(std::int64_t{e + 1023} << 52)));
  }
  /// Interleaves four columns (null: zeros), truncated to the multiplier's bits. Zeros keep their
  /// sign, infinities and NaN all bits for the integer fallback. `least`: exponent of each factor.
  static ExponentInterval gather(const std::uint64_t* const (&columns)[4], std::size_t n,
                                 double* to, std::int16_t* least) {
    const __m512i none = _mm512_set1_epi64(last_exponent),
                  cut = _mm512_set1_epi64(~std::int64_t{7});
    const __m512i sign = _mm512_set1_epi64(std::int64_t{1} << 63);
    __m512i low = none, high = _mm512_setzero_si512();
    for (std::size_t k = 0; k < n; k += 8) {
      const auto lanes = static_cast<M>(n - k < 8 ? (1U << (n - k)) - 1 : 255U);
      __m512i low_here = none;
      V y[4];
#pragma GCC unroll 4
      for (std::size_t j = 0; j < 4; ++j) {
        const __m512i x = columns[j] == nullptr ? _mm512_setzero_si512()
                                                : _mm512_maskz_loadu_epi64(lanes, columns[j] + k);
        const __m512i e = _mm512_and_epi64(_mm512_srli_epi64(x, 52), none);
        const M normal = _mm512_test_epi64_mask(e, e), finite = _mm512_cmplt_epi64_mask(e, none);
        low_here = _mm512_mask_min_epi64(low_here, normal, low_here, e);
        high = _mm512_max_epi64(high, e);
        const __m512i number = _mm512_mask_and_epi64(x, finite, x, cut);
        y[j] = _mm512_castsi512_pd(_mm512_mask_and_epi64(number, static_cast<M>(~normal), x, sign));
      }
      low = _mm512_min_epi64(low, low_here);
      _mm512_mask_cvtepi64_storeu_epi16(least + k, lanes, low_here);
      // Two factors, each of four columns, are a vector.
      const V even[2] = {_mm512_unpacklo_pd(y[0], y[1]), _mm512_unpacklo_pd(y[2], y[3])};
      const V odd[2] = {_mm512_unpackhi_pd(y[0], y[1]), _mm512_unpackhi_pd(y[2], y[3])};
      // Quarters 0, 2 and 1, 3 of both, then factors 0, 4, ... of each.
      const V e02 = _mm512_shuffle_f64x2(even[0], even[1], 0x88);
      const V e13 = _mm512_shuffle_f64x2(even[0], even[1], 0xdd);
      const V o02 = _mm512_shuffle_f64x2(odd[0], odd[1], 0x88);
      const V o13 = _mm512_shuffle_f64x2(odd[0], odd[1], 0xdd);
      const V rows[4] = {_mm512_shuffle_f64x2(e02, o02, 0x88), _mm512_shuffle_f64x2(e13, o13, 0x88),
                         _mm512_shuffle_f64x2(e02, o02, 0xdd),
                         _mm512_shuffle_f64x2(e13, o13, 0xdd)};
#pragma GCC unroll 4
      for (std::size_t i = 0; i < 4; ++i) {
        const unsigned left = lanes >> 2 * i & 3U;
        _mm512_mask_storeu_pd(to + (k + 2 * i) * 4,
                              static_cast<M>((left & 1U) * 15 + (left >> 1) * 240), rows[i]);
      }
    }
    return {static_cast<int>(_mm512_reduce_min_epi64(low)),
            static_cast<int>(_mm512_reduce_max_epi64(high))};
  }
  /// The least a[k] + b[k].
  static int min_sum(const std::int16_t* a, const std::int16_t* b, std::size_t n) {
    __m512i least = _mm512_set1_epi16(2 * last_exponent);
    for (std::size_t k = 0; k < n; k += 32) {
      const auto lanes = static_cast<__mmask32>(n - k < 32 ? (1U << (n - k)) - 1 : ~0U);
      const __m512i sum = _mm512_add_epi16(_mm512_maskz_loadu_epi16(lanes, a + k),
                                           _mm512_maskz_loadu_epi16(lanes, b + k));
      least = _mm512_mask_min_epi16(least, lanes, least, sum);
    }
    const __m256i half =
        _mm256_min_epi16(_mm512_castsi512_si256(least), _mm512_extracti64x4_epi64(least, 1));
    const __m128i quarter =
        _mm_min_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return _mm_extract_epi16(_mm_minpos_epu16(quarter), 0);
  }

  // --- fast products

  static constexpr std::size_t mr = 24, nr = 8;
  static bool has_bits(V x) {
    const __m512i bits = _mm512_castpd_si512(x);
    return _mm512_test_epi64_mask(bits, bits) != 0;
  }
  /// Transposes: in pairs, then in pairs of pairs, then in halves.
  static void transpose(V (&x)[width]) {
    V pairs[width], fours[width];
    for (std::size_t i = 0; i < width; i += 2) {
      pairs[i] = _mm512_unpacklo_pd(x[i], x[i + 1]);
      pairs[i + 1] = _mm512_unpackhi_pd(x[i], x[i + 1]);
    }
    // Lane 2 q + h of pairs[2 r + odd] is number 2 q + odd of row 2 r + h.
    constexpr int even_quarters = 0x88, odd_quarters = 0xdd;
    for (std::size_t i = 0; i < width; i += 4)
      for (std::size_t odd = 0; odd < 2; ++odd) {
        fours[i + odd] = _mm512_shuffle_f64x2(pairs[i + odd], pairs[i + 2 + odd], even_quarters);
        fours[i + 2 + odd] = _mm512_shuffle_f64x2(pairs[i + odd], pairs[i + 2 + odd], odd_quarters);
      }
    // fours[4 s + odd]: numbers odd and 4 + odd, rows 4 s .. 4 s + 3; two behind it, 2 + odd and 6.
    for (std::size_t n = 0; n < width / 2; ++n) {
      x[n] = _mm512_shuffle_f64x2(fours[n], fours[4 + n], even_quarters);
      x[n + 4] = _mm512_shuffle_f64x2(fours[n], fours[4 + n], odd_quarters);
    }
  }
  /// Makes NaN canonical.
  static V canonical(V x) {
    const V nan = _mm512_castsi512_pd(_mm512_set1_epi64(0x7ff8'0000'0000'0000));
    return _mm512_mask_mov_pd(x, _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q), nan);
  }
};

}  // namespace

const MatmulFunctions& exact_matmul_avx512() noexcept {
  static constexpr MatmulFunctions functions{
      ExactMatmul<Avx512>::gather, ExactMatmul<Avx512>::scratch, ExactMatmul<Avx512>::run};
  return functions;
}

const FastMatmulFunctions& fast_matmul_avx512() noexcept {
  static constexpr FastMatmulFunctions functions{FastMatmul<Avx512>::pack,
                                                 FastMatmul<Avx512>::loop_jr};
  return functions;
}

}  // namespace gdr
#endif
