// Fast sums of products for AVX-512; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include "emulator/engine/products/fast.hpp"

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
  /// NaN as the chip has it, all others as they are.
  static V canonical(V x) {
    const V nan = _mm512_castsi512_pd(_mm512_set1_epi64(0x7ff8'0000'0000'0000));
    return _mm512_mask_mov_pd(x, _mm512_cmp_pd_mask(x, x, _CMP_UNORD_Q), nan);
  }
};

}  // namespace

const FastKernels& fast_products_avx512() noexcept {
  static constexpr FastKernels kernels{FastProducts<Avx512>::take, FastProducts<Avx512>::run};
  return kernels;
}

}  // namespace gdr
#endif
