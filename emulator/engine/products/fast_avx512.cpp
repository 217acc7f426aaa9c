// Fast sums of products for AVX-512; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include "emulator/engine/products/fast.hpp"
#include "emulator/engine/products/take.hpp"

namespace gdr {
namespace {

struct Avx512 {
  using V = __m512d;
  static constexpr std::size_t width = 8, panels = 2, columns = 12;
  static V load(const double* p) { return _mm512_loadu_pd(p); }
  static void store(double* p, V x) { _mm512_storeu_pd(p, x); }
  static V all(double x) { return _mm512_set1_pd(x); }
  static V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
};

}  // namespace

const ProductKernels& fast_products_avx512() noexcept {
  static constexpr ProductKernels kernels{Isa::Avx512, false, take_longs<false>,
                                          FastProducts<Avx512>::scratch, FastProducts<Avx512>::run};
  return kernels;
}

}  // namespace gdr
#endif
