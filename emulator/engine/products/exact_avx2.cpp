// Exact sums of products for AVX2; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include "emulator/engine/products/exact.hpp"

namespace gdr {
namespace {

struct Avx2 {
  using V = __m256d;
  using M = __m256d;
  static constexpr Isa isa = Isa::Avx2;
  static constexpr std::size_t width = 4;

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
  /// Of three numbers together: zero where all are.
  static V bits_of(V a, V b, V c) { return _mm256_or_pd(a, _mm256_or_pd(b, c)); }
  static bool any(M m) { return _mm256_movemask_pd(m) != 0; }
  static V select(M m, V yes, V no) { return _mm256_blendv_pd(no, yes, m); }

  /// 2^e of x + rest, x being that rounded to nearest: one unit less where the rest points the
  /// other way. Without a rest this may take a power of two for one less; then nothing is rounded.
  static V exponent(V x, V rest) {
    const __m256i bits = _mm256_castpd_si256(x);
    const __m256i away = _mm256_srli_epi64(_mm256_xor_si256(bits, _mm256_castpd_si256(rest)), 63);
    return _mm256_castsi256_pd(
        _mm256_and_si256(_mm256_sub_epi64(bits, away), _mm256_set1_epi64x(0x7ff0'0000'0000'0000)));
  }
  /// Of -0 it is what `most` allows, since any finite number will do.
  static V exponent_of_product(V a, V b, V most) {
    const V p = mul(a, b);
    return _mm256_min_pd(exponent(p, fms(a, b, p)), most);
  }
  /// `a` must be a multiple of the distance between doubles at b, so that the rest is exact.
  static V exponent_of_sum(V a, V b) {
    const V s = add(a, b);
    return exponent(s, sub(b, sub(s, a)));
  }

  static double power(int e) {
    return _mm_cvtsd_f64(_mm_castsi128_pd(_mm_set1_epi64x(std::int64_t{e + 1023} << 52)));
  }
  static void take(const std::uint64_t* words, std::size_t n, double* to, std::size_t step,
                   int& least, int& most) {
    auto* const out = reinterpret_cast<std::uint64_t*>(to);
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint64_t x = words[k];
      const int e = static_cast<int>(x >> 52 & 2047);
      // Zeros keep their sign; of infinities and NaN integers will see all bits.
      std::uint64_t y = x & ~std::uint64_t{7};
      if (e == 0) y = x & std::uint64_t{1} << 63;
      if (e == 2047) y = x;
      __builtin_memcpy(out + k * step, &y, sizeof y);
      if (e != 0 && e < least) least = e;
      if (e > most) most = e;
    }
  }
};

}  // namespace

const ProductKernels& exact_products_avx2() noexcept {
  static constexpr ProductKernels kernels{Isa::Avx2, true, ExactProducts<Avx2>::scratch,
                                          ExactProducts<Avx2>::run};
  return kernels;
}

}  // namespace gdr
#endif
