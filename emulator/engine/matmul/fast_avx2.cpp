// Fast matrix products for AVX2; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include "emulator/engine/matmul/fast.hpp"

namespace gdr {
namespace {

struct Avx2 {
  using V = __m256d;
  static constexpr std::size_t width = 4, panels = 1, columns = 6;
  static V load(const double* p) { return _mm256_loadu_pd(p); }
  static void store(double* p, V x) { _mm256_storeu_pd(p, x); }
  static V all(double x) { return _mm256_set1_pd(x); }
  static V add(V a, V b) { return _mm256_add_pd(a, b); }
  static V fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
  static V bits_of_both(V a, V b) { return _mm256_or_pd(a, b); }
  static bool has_bits(V x) {
    const __m256i bits = _mm256_castpd_si256(x);
    return _mm256_testz_si256(bits, bits) == 0;
  }
  /// Transposes.
  static void turn(V (&x)[width]) {
    const V a = _mm256_unpacklo_pd(x[0], x[1]), b = _mm256_unpackhi_pd(x[0], x[1]);
    const V c = _mm256_unpacklo_pd(x[2], x[3]), d = _mm256_unpackhi_pd(x[2], x[3]);
    constexpr int low_halves = 0x20, high_halves = 0x31;
    x[0] = _mm256_permute2f128_pd(a, c, low_halves);
    x[1] = _mm256_permute2f128_pd(b, d, low_halves);
    x[2] = _mm256_permute2f128_pd(a, c, high_halves);
    x[3] = _mm256_permute2f128_pd(b, d, high_halves);
  }
  /// NaN as the chip has it, all others as they are.
  static V canonical(V x) {
    const V nan = _mm256_castsi256_pd(_mm256_set1_epi64x(0x7ff8'0000'0000'0000));
    return _mm256_blendv_pd(x, nan, _mm256_cmp_pd(x, x, _CMP_UNORD_Q));
  }
};

}  // namespace

const FastMatmulKernels& fast_matmul_avx2() noexcept {
  static constexpr FastMatmulKernels kernels{FastMatmul<Avx2>::take, FastMatmul<Avx2>::run};
  return kernels;
}

}  // namespace gdr
#endif
