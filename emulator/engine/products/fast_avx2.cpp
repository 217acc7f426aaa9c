// Fast sums of products for AVX2; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include "emulator/engine/products/fast.hpp"

namespace gdr {
namespace {

struct Avx2 {
  using V = __m256d;
  static constexpr std::size_t width = 4, panels = 1, columns = 6;
  static V load(const double* p) { return _mm256_loadu_pd(p); }
  static void store(double* p, V x) { _mm256_storeu_pd(p, x); }
  static V all(double x) { return _mm256_set1_pd(x); }
  static V fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
};

}  // namespace

const ProductKernels& fast_products_avx2() noexcept {
  static constexpr ProductKernels kernels{Isa::Avx2, false, FastProducts<Avx2>::scratch,
                                          FastProducts<Avx2>::run};
  return kernels;
}

}  // namespace gdr
#endif
