// The native loop for AVX-512: 8 targets in a vector, 4 vectors side by side to hide latencies.
#include "libgdr/cli/bench/native.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace gdr::bench {
namespace {

// The zero-masked form (all lanes on): the plain one warns of its own undefined vector in GCC 12.
#define GDR_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,fma"), always_inline)) inline

/// 14 bits, then 28, then 53.
struct Newton {
  GDR_AVX512 static __m512d rsqrt(__m512d r2) {
    const __m512d half = _mm512_mul_pd(r2, _mm512_set1_pd(0.5));
    __m512d y = _mm512_maskz_rsqrt14_pd(0xFF, r2);
    for (int step = 0; step < 2; ++step) {
      const __m512d square = _mm512_mul_pd(y, y);
      y = _mm512_mul_pd(y, _mm512_fnmadd_pd(half, square, _mm512_set1_pd(1.5)));
    }
    return y;
  }
};

/// With e = 1 - r2 y^2: y (1 + e/2 + 3 e^2/8 + 5 e^3/16) has an error of e^4.
struct Fourth {
  GDR_AVX512 static __m512d rsqrt(__m512d r2) {
    const __m512d y = _mm512_maskz_rsqrt14_pd(0xFF, r2);
    const __m512d e = _mm512_fnmadd_pd(r2, _mm512_mul_pd(y, y), _mm512_set1_pd(1.0));
    __m512d p = _mm512_fmadd_pd(e, _mm512_set1_pd(0.3125), _mm512_set1_pd(0.375));
    p = _mm512_fmadd_pd(p, e, _mm512_set1_pd(0.5));
    return _mm512_fmadd_pd(_mm512_mul_pd(p, e), y, y);
  }
};

/// Sums of a vector of targets.
struct Sums {
  __m512d ax, ay, az, pot;
};

template <typename Root>
GDR_AVX512 void add_pair(const NativeParticles& p, std::size_t i, __m512d xj, __m512d yj,
                         __m512d zj, __m512d mj, __m512d eps2, Sums& s) {
  const __m512d dx = _mm512_sub_pd(xj, _mm512_loadu_pd(&p.x[i]));
  const __m512d dy = _mm512_sub_pd(yj, _mm512_loadu_pd(&p.y[i]));
  const __m512d dz = _mm512_sub_pd(zj, _mm512_loadu_pd(&p.z[i]));
  __m512d r2 = _mm512_fmadd_pd(dx, dx, eps2);
  r2 = _mm512_fmadd_pd(dy, dy, r2);
  r2 = _mm512_fmadd_pd(dz, dz, r2);
  const __m512d inverse = Root::rsqrt(r2);
  const __m512d potential = _mm512_mul_pd(mj, inverse);
  const __m512d factor = _mm512_mul_pd(potential, _mm512_mul_pd(inverse, inverse));
  s.ax = _mm512_fmadd_pd(factor, dx, s.ax);
  s.ay = _mm512_fmadd_pd(factor, dy, s.ay);
  s.az = _mm512_fmadd_pd(factor, dz, s.az);
  s.pot = _mm512_sub_pd(s.pot, potential);
}

template <typename Root>
__attribute__((target("avx512f,avx512dq,avx512vl,fma"))) void loop(const NativeParticles& p,
                                                                   std::size_t first,
                                                                   std::size_t last, double eps2,
                                                                   NativeForces& forces) {
  constexpr std::size_t vectors = 4;
  const __m512d softening = _mm512_set1_pd(eps2);
  for (std::size_t i = first; i < last; i += 8 * vectors) {
    Sums sums[vectors];
    for (Sums& s : sums) s.ax = s.ay = s.az = s.pot = _mm512_setzero_pd();
    for (std::size_t j = 0; j < p.n; ++j) {
      const __m512d xj = _mm512_set1_pd(p.x[j]), yj = _mm512_set1_pd(p.y[j]);
      const __m512d zj = _mm512_set1_pd(p.z[j]), mj = _mm512_set1_pd(p.m[j]);
      for (std::size_t k = 0; k < vectors; ++k)
        add_pair<Root>(p, i + 8 * k, xj, yj, zj, mj, softening, sums[k]);
    }
    for (std::size_t k = 0; k < vectors; ++k) {
      _mm512_storeu_pd(&forces.ax[i + 8 * k], sums[k].ax);
      _mm512_storeu_pd(&forces.ay[i + 8 * k], sums[k].ay);
      _mm512_storeu_pd(&forces.az[i + 8 * k], sums[k].az);
      _mm512_storeu_pd(&forces.pot[i + 8 * k], sums[k].pot);
    }
  }
}

}  // namespace

void native_avx512_newton(const NativeParticles& p, std::size_t first, std::size_t last,
                          double eps2, NativeForces& forces) {
  loop<Newton>(p, first, last, eps2, forces);
}
void native_avx512_fourth(const NativeParticles& p, std::size_t first, std::size_t last,
                          double eps2, NativeForces& forces) {
  loop<Fourth>(p, first, last, eps2, forces);
}

}  // namespace gdr::bench
#endif
