// Fast matrix products for AVX-512; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include "emulator/engine/matmul/fast.hpp"

namespace gdr {
namespace {

struct Avx512 {
  using V = __m512d;
  static constexpr std::size_t width = 8, panels = 3, columns = 8;
  static V load(const double* p) { return _mm512_loadu_pd(p); }
  static void store(double* p, V x) { _mm512_storeu_pd(p, x); }
  static V all(double x) { return _mm512_set1_pd(x); }
  static V add(V a, V b) { return _mm512_add_pd(a, b); }
  static V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
  static V bits_of_both(V a, V b) { return _mm512_or_pd(a, b); }
  static bool has_bits(V x) {
    const __m512i bits = _mm512_castpd_si512(x);
    return _mm512_test_epi64_mask(bits, bits) != 0;
  }
  /// Transposes: in pairs, then in pairs of pairs, then in halves.
  static void turn(V (&x)[width]) {
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
  /// NaN as the chip has it, all others as they are.
  static V canonical(V x) {
    const V nan = _mm512_castsi512_pd(_mm512_set1_epi64(0x7ff8'0000'0000'0000));
    return _mm512_mask_mov_pd(x, _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q), nan);
  }
};

}  // namespace

const FastMatmulKernels& fast_matmul_avx512() noexcept {
  static constexpr FastMatmulKernels kernels{FastMatmul<Avx512>::take, FastMatmul<Avx512>::run};
  return kernels;
}

}  // namespace gdr
#endif
