// Exact matrix products for AVX-512; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include "emulator/engine/matmul/exact.hpp"
#include "emulator/engine/matmul/gather.hpp"

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
  /// Of two numbers together: zero where both are.
  static V bits_of(V a, V b) {
    return _mm512_castsi512_pd(_mm512_or_epi64(_mm512_castpd_si512(a), _mm512_castpd_si512(b)));
  }
  /// x + rest, rest being less than x's last bit: of the two neighbours the odd one.
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
  /// Four columns, or null for zeros, cut to what the multiplier sees, side by side. Zeros keep
  /// their sign; of infinities and NaN integers will see all bits. `least` has one for each factor.
  static ExponentRange take(const std::uint64_t* const (&columns)[4], std::size_t n, double* to,
                            std::int16_t* least) {
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
  static int least_sum(const std::int16_t* a, const std::int16_t* b, std::size_t n) {
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
};

}  // namespace

const MatmulKernels& exact_matmul_avx512() noexcept {
  static constexpr MatmulKernels kernels{Isa::Avx512, gather_longs, ExactMatmul<Avx512>::scratch,
                                         ExactMatmul<Avx512>::run};
  return kernels;
}

}  // namespace gdr
#endif
