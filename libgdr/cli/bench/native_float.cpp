#include "libgdr/cli/bench/native_float.hpp"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr::bench {
namespace {

void portable_loop(const FloatParticles& p, std::size_t first, std::size_t last, float eps2,
                   FloatForces& forces) {
  for (std::size_t i = first; i < last; ++i) {
    float ax = 0, ay = 0, az = 0, pot = 0;
    for (std::size_t j = 0; j < p.n; ++j) {
      const float dx = p.x[j] - p.x[i], dy = p.y[j] - p.y[i], dz = p.z[j] - p.z[i];
      const float inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + eps2);
      const float potential = p.m[j] * inverse;
      const float factor = potential * inverse * inverse;
      ax += factor * dx;
      ay += factor * dy;
      az += factor * dz;
      pot -= potential;
    }
    forces.ax[i] = ax;
    forces.ay[i] = ay;
    forces.az[i] = az;
    forces.pot[i] = pot;
  }
}

#if defined(__x86_64__)
#define GDR_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#define GDR_AVX2 __attribute__((target("avx2,fma")))

/// 16 targets in a vector, two vectors side by side.
GDR_AVX512 void avx512_loop(const FloatParticles& p, std::size_t first, std::size_t last,
                            float eps2, FloatForces& forces) {
  constexpr std::size_t vectors = 2;
  const __m512 softening = _mm512_set1_ps(eps2), half = _mm512_set1_ps(0.5F),
               three_halves = _mm512_set1_ps(1.5F);
  for (std::size_t i = first; i < last; i += 16 * vectors) {
    __m512 ax[vectors], ay[vectors], az[vectors], pot[vectors];
    for (std::size_t k = 0; k < vectors; ++k) ax[k] = ay[k] = az[k] = pot[k] = _mm512_setzero_ps();
    for (std::size_t j = 0; j < p.n; ++j) {
      const __m512 xj = _mm512_set1_ps(p.x[j]), yj = _mm512_set1_ps(p.y[j]);
      const __m512 zj = _mm512_set1_ps(p.z[j]), mj = _mm512_set1_ps(p.m[j]);
      for (std::size_t k = 0; k < vectors; ++k) {
        const __m512 dx = _mm512_sub_ps(xj, _mm512_loadu_ps(&p.x[i + 16 * k]));
        const __m512 dy = _mm512_sub_ps(yj, _mm512_loadu_ps(&p.y[i + 16 * k]));
        const __m512 dz = _mm512_sub_ps(zj, _mm512_loadu_ps(&p.z[i + 16 * k]));
        __m512 r2 = _mm512_fmadd_ps(dx, dx, softening);
        r2 = _mm512_fmadd_ps(dy, dy, r2);
        r2 = _mm512_fmadd_ps(dz, dz, r2);
        const __m512 estimate = _mm512_maskz_rsqrt14_ps(0xFFFF, r2);
        const __m512 square = _mm512_mul_ps(estimate, estimate);
        const __m512 inverse = _mm512_mul_ps(
            estimate, _mm512_fnmadd_ps(_mm512_mul_ps(half, r2), square, three_halves));
        const __m512 potential = _mm512_mul_ps(mj, inverse);
        const __m512 factor = _mm512_mul_ps(potential, _mm512_mul_ps(inverse, inverse));
        ax[k] = _mm512_fmadd_ps(factor, dx, ax[k]);
        ay[k] = _mm512_fmadd_ps(factor, dy, ay[k]);
        az[k] = _mm512_fmadd_ps(factor, dz, az[k]);
        pot[k] = _mm512_sub_ps(pot[k], potential);
      }
    }
    for (std::size_t k = 0; k < vectors; ++k) {
      _mm512_storeu_ps(&forces.ax[i + 16 * k], ax[k]);
      _mm512_storeu_ps(&forces.ay[i + 16 * k], ay[k]);
      _mm512_storeu_ps(&forces.az[i + 16 * k], az[k]);
      _mm512_storeu_ps(&forces.pot[i + 16 * k], pot[k]);
    }
  }
}

/// 8 targets in a vector, two vectors side by side.
GDR_AVX2 void avx2_loop(const FloatParticles& p, std::size_t first, std::size_t last, float eps2,
                        FloatForces& forces) {
  constexpr std::size_t vectors = 2;
  const __m256 softening = _mm256_set1_ps(eps2), half = _mm256_set1_ps(0.5F),
               three_halves = _mm256_set1_ps(1.5F);
  for (std::size_t i = first; i < last; i += 8 * vectors) {
    __m256 ax[vectors], ay[vectors], az[vectors], pot[vectors];
    for (std::size_t k = 0; k < vectors; ++k) ax[k] = ay[k] = az[k] = pot[k] = _mm256_setzero_ps();
    for (std::size_t j = 0; j < p.n; ++j) {
      const __m256 xj = _mm256_set1_ps(p.x[j]), yj = _mm256_set1_ps(p.y[j]);
      const __m256 zj = _mm256_set1_ps(p.z[j]), mj = _mm256_set1_ps(p.m[j]);
      for (std::size_t k = 0; k < vectors; ++k) {
        const __m256 dx = _mm256_sub_ps(xj, _mm256_loadu_ps(&p.x[i + 8 * k]));
        const __m256 dy = _mm256_sub_ps(yj, _mm256_loadu_ps(&p.y[i + 8 * k]));
        const __m256 dz = _mm256_sub_ps(zj, _mm256_loadu_ps(&p.z[i + 8 * k]));
        __m256 r2 = _mm256_fmadd_ps(dx, dx, softening);
        r2 = _mm256_fmadd_ps(dy, dy, r2);
        r2 = _mm256_fmadd_ps(dz, dz, r2);
        const __m256 estimate = _mm256_rsqrt_ps(r2);
        const __m256 square = _mm256_mul_ps(estimate, estimate);
        const __m256 inverse = _mm256_mul_ps(
            estimate, _mm256_fnmadd_ps(_mm256_mul_ps(half, r2), square, three_halves));
        const __m256 potential = _mm256_mul_ps(mj, inverse);
        const __m256 factor = _mm256_mul_ps(potential, _mm256_mul_ps(inverse, inverse));
        ax[k] = _mm256_fmadd_ps(factor, dx, ax[k]);
        ay[k] = _mm256_fmadd_ps(factor, dy, ay[k]);
        az[k] = _mm256_fmadd_ps(factor, dz, az[k]);
        pot[k] = _mm256_sub_ps(pot[k], potential);
      }
    }
    for (std::size_t k = 0; k < vectors; ++k) {
      _mm256_storeu_ps(&forces.ax[i + 8 * k], ax[k]);
      _mm256_storeu_ps(&forces.ay[i + 8 * k], ay[k]);
      _mm256_storeu_ps(&forces.az[i + 8 * k], az[k]);
      _mm256_storeu_ps(&forces.pot[i + 8 * k], pot[k]);
    }
  }
}
#endif

std::vector<float> as_float(const std::vector<double>& values) {
  std::vector<float> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(),
                 [](double x) { return static_cast<float>(x); });
  return out;
}

}  // namespace

FloatParticles::FloatParticles(const NativeParticles& particles)
    : n(particles.n),
      x(as_float(particles.x)),
      y(as_float(particles.y)),
      z(as_float(particles.z)),
      m(as_float(particles.m)) {}

FloatLoop float_loop(Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return avx512_loop;
  if (isa == Isa::Avx2) return avx2_loop;
#endif
  (void)isa;
  return portable_loop;
}

void float_forces(FloatLoop loop, const FloatParticles& particles, float eps2, unsigned threads,
                  FloatForces& forces) {
  for (std::vector<float>* values : {&forces.ax, &forces.ay, &forces.az, &forces.pot})
    values->resize(particles.n);
  const std::size_t slice = 4 * native_lanes;
  const auto slices = static_cast<std::ptrdiff_t>((particles.n + slice - 1) / slice);
#pragma omp parallel for num_threads(static_cast <int>(std::max(1U, threads))) schedule(static)
  for (std::ptrdiff_t k = 0; k < slices; ++k) {
    const std::size_t first = static_cast<std::size_t>(k) * slice;
    loop(particles, first, std::min(first + slice, particles.n), eps2, forces);
  }
}

}  // namespace gdr::bench
