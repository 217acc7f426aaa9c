// Matrix products for AVX2; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include "emulator/engine/matmul/cpu/exact.hpp"
#include "emulator/engine/matmul/cpu/fast.hpp"

namespace gdr {
namespace {

struct Avx2 : ItemsOneByOne<Avx2> {
  using V = __m256d;
  using M = __m256d;
  static constexpr Isa isa = Isa::Avx2;
  static constexpr std::size_t width = 4;
  static constexpr bool exponents_ahead = true, has_exponent_estimates = true;

  static V load(const double* p) { return _mm256_loadu_pd(p); }
  static void store(double* p, V x) { _mm256_storeu_pd(p, x); }
  static V all(double x) { return _mm256_set1_pd(x); }
  static V add(V a, V b) { return _mm256_add_pd(a, b); }
  static V sub(V a, V b) { return _mm256_sub_pd(a, b); }
  static V mul(V a, V b) { return _mm256_mul_pd(a, b); }
  static V fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
  static V fms(V a, V b, V c) { return _mm256_fmsub_pd(a, b, c); }
  static V fnma(V a, V b, V c) { return _mm256_fnmadd_pd(a, b, c); }
  static V max(V a, V b) { return _mm256_max_pd(a, b); }
  static M zero(V x) { return _mm256_cmp_pd(x, all(0), _CMP_EQ_OQ); }
  static M nonzero(V x) { return _mm256_cmp_pd(x, all(0), _CMP_NEQ_UQ); }
  static M less(V a, V b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
  /// Zero in lanes in which both are zero.
  static V bits_of(V a, V b) { return _mm256_or_pd(a, b); }
  /// x + rest rounded to odd, for a rest below x's last bit.
  static V to_odd(V x, V rest) {
    const __m256i bits = _mm256_castpd_si256(x), one = _mm256_set1_epi64x(1);
    const __m256i none = _mm256_setzero_si256();
    const __m256i apart = _mm256_xor_si256(bits, _mm256_castpd_si256(rest));
    const __m256i even = _mm256_cmpeq_epi64(_mm256_and_si256(bits, one), none);
    const __m256i move = _mm256_and_si256(even, _mm256_castpd_si256(nonzero(rest)));
    const __m256i down = _mm256_cmpgt_epi64(none, apart);
    // 1 or -1 where x changes.
    const __m256i step = _mm256_or_si256(one, down);
    const __m256i odd = _mm256_add_epi64(bits, _mm256_and_si256(move, step));
    return select(zero(x), rest, _mm256_castsi256_pd(odd));
  }
  static bool any(M m) { return _mm256_movemask_pd(m) != 0; }
  static V select(M m, V yes, V no) { return _mm256_blendv_pd(no, yes, m); }

  /// 2^e of x + rest, where x is that sum rounded to nearest: one unit less if the rest has the
  /// other sign. For a power of two without a rest it may be one less; then nothing is rounded.
  static V exponent(V x, V rest) {
    const __m256i bits = _mm256_castpd_si256(x);
    const __m256i away = _mm256_srli_epi64(_mm256_xor_si256(bits, _mm256_castpd_si256(rest)), 63);
    return _mm256_castsi256_pd(
        _mm256_and_si256(_mm256_sub_epi64(bits, away), _mm256_set1_epi64x(0x7ff0'0000'0000'0000)));
  }
  /// `most` for -0, for which any finite number is correct.
  static V exponent_of_product(V a, V b, V most) {
    const V p = mul(a, b);
    return _mm256_min_pd(exponent(p, fms(a, b, p)), most);
  }
  /// The same for many products with rounding towards zero: two operations each instead of six. The
  /// compiler keeps only memory accesses between the changes of the mode.
  template <std::size_t Together>
  static void exponents(const double* numbers, const double* items, std::size_t depth, double* to) {
    const unsigned nearest = _mm_getcsr(), towards_zero = nearest | 0x6000;
    asm volatile("ldmxcsr %0" : : "m"(towards_zero) : "memory");
    for (std::size_t k = 0; k < depth; ++k) {
      const V a = load(numbers + k * panel_lanes);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < Together; ++j)
        store(to + (k * Together + j) * width,
              _mm256_and_pd(mul(a, all(items[k * Together + j])),
                            _mm256_castsi256_pd(_mm256_set1_epi64x(0x7ff0'0000'0000'0000))));
    }
    asm volatile("ldmxcsr %0" : : "m"(nearest) : "memory");
  }
  /// `a` must be a multiple of the distance between doubles at b, so that the rest is exact.
  static V exponent_of_sum(V a, V b) {
    const V s = add(a, b);
    return exponent(s, sub(b, sub(s, a)));
  }
  /// 2^e, with a sign, of the value that was rounded to nearest as x: less than half of the work.
  /// Sets bits of `inexact` where x is a power of two, to which it may have been rounded up.
  static V estimate_exponent(V x, V& inexact) {
    const V e = _mm256_and_pd(
        x, _mm256_castsi256_pd(_mm256_set1_epi64x(static_cast<std::int64_t>(~0ULL << 52))));
    inexact = _mm256_or_pd(inexact, _mm256_cmp_pd(e, x, _CMP_EQ_OQ));
    return e;
  }

  static double power(int e) {
    return _mm_cvtsd_f64(_mm_castsi128_pd(_mm_set1_epi64x(std::int64_t{e + 1023} << 52)));
  }
  /// The least a[k] + b[k].
  static int min_sum(const std::int16_t* a, const std::int16_t* b, std::size_t n) {
    constexpr std::int16_t none = 2 * last_exponent;
    __m256i least = _mm256_set1_epi16(none);
    std::size_t k = 0;
    for (; k + 16 <= n; k += 16) {
      const auto load_shorts = [k](const std::int16_t* p) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + k));
      };
      least = _mm256_min_epi16(least, _mm256_add_epi16(load_shorts(a), load_shorts(b)));
    }
    const __m128i half =
        _mm_min_epi16(_mm256_castsi256_si128(least), _mm256_extracti128_si256(least, 1));
    int found = _mm_extract_epi16(_mm_minpos_epu16(half), 0);
    for (; k < n; ++k) found = a[k] + b[k] < found ? a[k] + b[k] : found;
    return found;
  }

  // --- fast products

  static constexpr std::size_t mr = 8, nr = 6;
  static bool has_bits(V x) {
    const __m256i bits = _mm256_castpd_si256(x);
    return _mm256_testz_si256(bits, bits) == 0;
  }
  /// Transposes.
  static void transpose(V (&x)[width]) {
    const V a = _mm256_unpacklo_pd(x[0], x[1]), b = _mm256_unpackhi_pd(x[0], x[1]);
    const V c = _mm256_unpacklo_pd(x[2], x[3]), d = _mm256_unpackhi_pd(x[2], x[3]);
    constexpr int low_halves = 0x20, high_halves = 0x31;
    x[0] = _mm256_permute2f128_pd(a, c, low_halves);
    x[1] = _mm256_permute2f128_pd(b, d, low_halves);
    x[2] = _mm256_permute2f128_pd(a, c, high_halves);
    x[3] = _mm256_permute2f128_pd(b, d, high_halves);
  }
  /// Makes NaN canonical.
  static V canonical(V x) {
    const V nan = _mm256_castsi256_pd(_mm256_set1_epi64x(0x7ff8'0000'0000'0000));
    return _mm256_blendv_pd(x, nan, _mm256_cmp_pd(x, x, _CMP_UNORD_Q));
  }
};

}  // namespace

const MatmulFunctions& exact_matmul_avx2() noexcept {
  static constexpr MatmulFunctions functions{ExactMatmul<Avx2>::gather, ExactMatmul<Avx2>::scratch,
                                             ExactMatmul<Avx2>::run};
  return functions;
}

const FastMatmulFunctions& fast_matmul_avx2() noexcept {
  static constexpr FastMatmulFunctions functions{FastMatmul<Avx2>::pack, FastMatmul<Avx2>::loop_jr};
  return functions;
}

}  // namespace gdr
#endif
