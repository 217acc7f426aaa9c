// The loops of regular sums for AVX2 and FMA; this file alone is compiled for them.
#if defined(__x86_64__)
#include <immintrin.h>

#include "libgdr/compat/grape/regular_loop.hpp"

namespace gdr::compat::grape {
namespace {

struct Avx2 {
  using Register = __m256d;
  using Mask = __m256d;
  static constexpr std::size_t lanes = 4;
  static Register set(double x) { return _mm256_set1_pd(x); }
  static Register load(const double* from) { return _mm256_load_pd(from); }
  static void store(double* to, Register x) { _mm256_store_pd(to, x); }
  static Register add(Register a, Register b) { return _mm256_add_pd(a, b); }
  static Register sub(Register a, Register b) { return _mm256_sub_pd(a, b); }
  static Register mul(Register a, Register b) { return _mm256_mul_pd(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm256_fmadd_pd(a, b, c); }
  static Register fnma(Register a, Register b, Register c) { return _mm256_fnmadd_pd(a, b, c); }
  static Register min(Register a, Register b) { return _mm256_min_pd(a, b); }
  static Mask less(Register a, Register b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
  static Mask and_not(Mask a, Mask b) { return _mm256_andnot_pd(a, b); }
  static unsigned bits(Mask m) { return static_cast<unsigned>(_mm256_movemask_pd(m)); }
  static Register keep(Mask m, Register x) { return _mm256_and_pd(m, x); }
  static Register rsqrt(Register x) { return _mm256_div_pd(set(1), _mm256_sqrt_pd(x)); }
};

}  // namespace

const RegularLoops& regular_loops_avx2() noexcept {
  static constexpr RegularLoops loops{regular_loop<Avx2, false>, regular_loop<Avx2, true>};
  return loops;
}

}  // namespace gdr::compat::grape
#endif
