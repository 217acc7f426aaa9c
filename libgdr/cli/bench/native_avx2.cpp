// The native loop for AVX2: 4 targets in a vector, 2 vectors side by side.
#include "libgdr/cli/bench/native.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace gdr::bench {
namespace {

#define GDR_AVX2 __attribute__((target("avx2,fma"), always_inline)) inline

/// 12 bits from the float estimate; with e = 1 - r2 y^2, y (1 + e/2 + 3 e^2/8 + 5 e^3/16 +
/// 35 e^4/128) has an error of e^5. Good for r2 in the range of floats.
struct Estimate {
  GDR_AVX2 static __m256d rsqrt(__m256d r2) {
    const __m256d y = _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(r2)));
    const __m256d e = _mm256_fnmadd_pd(r2, _mm256_mul_pd(y, y), _mm256_set1_pd(1.0));
    __m256d p = _mm256_fmadd_pd(e, _mm256_set1_pd(35.0 / 128), _mm256_set1_pd(0.3125));
    p = _mm256_fmadd_pd(p, e, _mm256_set1_pd(0.375));
    p = _mm256_fmadd_pd(p, e, _mm256_set1_pd(0.5));
    return _mm256_fmadd_pd(_mm256_mul_pd(p, e), y, y);
  }
};

struct Divide {
  GDR_AVX2 static __m256d rsqrt(__m256d r2) {
    return _mm256_div_pd(_mm256_set1_pd(1.0), _mm256_sqrt_pd(r2));
  }
};

/// Sums of a vector of targets.
struct Sums {
  __m256d ax, ay, az, pot;
};

template <typename Root>
GDR_AVX2 void add_pair(const NativeParticles& p, std::size_t i, __m256d xj, __m256d yj, __m256d zj,
                       __m256d mj, __m256d eps2, Sums& s) {
  const __m256d dx = _mm256_sub_pd(xj, _mm256_loadu_pd(&p.x[i]));
  const __m256d dy = _mm256_sub_pd(yj, _mm256_loadu_pd(&p.y[i]));
  const __m256d dz = _mm256_sub_pd(zj, _mm256_loadu_pd(&p.z[i]));
  __m256d r2 = _mm256_fmadd_pd(dx, dx, eps2);
  r2 = _mm256_fmadd_pd(dy, dy, r2);
  r2 = _mm256_fmadd_pd(dz, dz, r2);
  const __m256d inverse = Root::rsqrt(r2);
  const __m256d potential = _mm256_mul_pd(mj, inverse);
  const __m256d factor = _mm256_mul_pd(potential, _mm256_mul_pd(inverse, inverse));
  s.ax = _mm256_fmadd_pd(factor, dx, s.ax);
  s.ay = _mm256_fmadd_pd(factor, dy, s.ay);
  s.az = _mm256_fmadd_pd(factor, dz, s.az);
  s.pot = _mm256_sub_pd(s.pot, potential);
}

template <typename Root>
__attribute__((target("avx2,fma"))) void loop(const NativeParticles& p, std::size_t first,
                                              std::size_t last, double eps2, NativeForces& forces) {
  constexpr std::size_t vectors = 2;
  const __m256d softening = _mm256_set1_pd(eps2);
  for (std::size_t i = first; i < last; i += 4 * vectors) {
    Sums sums[vectors];
    for (Sums& s : sums) s.ax = s.ay = s.az = s.pot = _mm256_setzero_pd();
    for (std::size_t j = 0; j < p.n; ++j) {
      const __m256d xj = _mm256_set1_pd(p.x[j]), yj = _mm256_set1_pd(p.y[j]);
      const __m256d zj = _mm256_set1_pd(p.z[j]), mj = _mm256_set1_pd(p.m[j]);
      for (std::size_t k = 0; k < vectors; ++k)
        add_pair<Root>(p, i + 4 * k, xj, yj, zj, mj, softening, sums[k]);
    }
    for (std::size_t k = 0; k < vectors; ++k) {
      _mm256_storeu_pd(&forces.ax[i + 4 * k], sums[k].ax);
      _mm256_storeu_pd(&forces.ay[i + 4 * k], sums[k].ay);
      _mm256_storeu_pd(&forces.az[i + 4 * k], sums[k].az);
      _mm256_storeu_pd(&forces.pot[i + 4 * k], sums[k].pot);
    }
  }
}

}  // namespace

void native_avx2_estimate(const NativeParticles& p, std::size_t first, std::size_t last,
                          double eps2, NativeForces& forces) {
  loop<Estimate>(p, first, last, eps2, forces);
}
void native_avx2_divide(const NativeParticles& p, std::size_t first, std::size_t last, double eps2,
                        NativeForces& forces) {
  loop<Divide>(p, first, last, eps2, forces);
}

}  // namespace gdr::bench
#endif
