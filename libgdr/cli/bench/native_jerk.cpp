#include "libgdr/cli/bench/native_jerk.hpp"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gdr::bench {
namespace {

#if defined(__x86_64__)
namespace avx512 {

#define GDR_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#define GDR_STEP GDR_TARGET __attribute__((always_inline)) inline

using V = __m512d;
constexpr std::size_t lanes = 8;

GDR_STEP V all(double x) { return _mm512_set1_pd(x); }
GDR_STEP V load(const double* at) { return _mm512_loadu_pd(at); }
GDR_STEP void store(double* at, V x) { _mm512_storeu_pd(at, x); }
GDR_STEP V sub(V a, V b) { return _mm512_sub_pd(a, b); }
GDR_STEP V mul(V a, V b) { return _mm512_mul_pd(a, b); }
GDR_STEP V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
GDR_STEP V fnma(V a, V b, V c) { return _mm512_fnmadd_pd(a, b, c); }
/// 14 bits, and one step of fourth order: with e = 1 - x y^2, y (1 + e/2 + 3 e^2/8 + 5 e^3/16).
GDR_STEP V rsqrt(V x) {
  const V y = _mm512_maskz_rsqrt14_pd(0xFF, x);
  const V e = fnma(x, mul(y, y), all(1.0));
  const V p = fma(fma(e, all(0.3125), all(0.375)), e, all(0.5));
  return fma(mul(p, e), y, y);
}

#include "libgdr/cli/bench/native_jerk_loop.inc"

#undef GDR_STEP
#undef GDR_TARGET

}  // namespace avx512

namespace avx2 {

#define GDR_TARGET __attribute__((target("avx2,fma")))
#define GDR_STEP GDR_TARGET __attribute__((always_inline)) inline

using V = __m256d;
constexpr std::size_t lanes = 4;

GDR_STEP V all(double x) { return _mm256_set1_pd(x); }
GDR_STEP V load(const double* at) { return _mm256_loadu_pd(at); }
GDR_STEP void store(double* at, V x) { _mm256_storeu_pd(at, x); }
GDR_STEP V sub(V a, V b) { return _mm256_sub_pd(a, b); }
GDR_STEP V mul(V a, V b) { return _mm256_mul_pd(a, b); }
GDR_STEP V fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
GDR_STEP V fnma(V a, V b, V c) { return _mm256_fnmadd_pd(a, b, c); }
/// 12 bits of the float estimate, and one step of fifth order. For x in the range of floats.
GDR_STEP V rsqrt(V x) {
  const V y = _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(x)));
  const V e = fnma(x, mul(y, y), all(1.0));
  const V p = fma(fma(fma(e, all(35.0 / 128), all(0.3125)), e, all(0.375)), e, all(0.5));
  return fma(mul(p, e), y, y);
}

#include "libgdr/cli/bench/native_jerk_loop.inc"

#undef GDR_STEP
#undef GDR_TARGET

}  // namespace avx2
#endif

}  // namespace

std::vector<JerkLoop> jerk_loops(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return {avx512::jerk_loop<1>, avx512::jerk_loop<2>, avx512::jerk_loop<4>};
  if (isa == Isa::Avx2) return {avx2::jerk_loop<1>, avx2::jerk_loop<2>, avx2::jerk_loop<4>};
#endif
  return {};
}

void jerk_forces(JerkLoop loop, JerkParticles& particles, double eps2, unsigned threads) {
  for (std::vector<double>& sum : particles.sums) sum.resize(particles.at.n);
  const std::size_t slice = 4 * native_lanes;
  const auto slices = static_cast<std::ptrdiff_t>((particles.at.n + slice - 1) / slice);
#pragma omp parallel for num_threads(static_cast <int>(std::max(1U, threads))) schedule(static)
  for (std::ptrdiff_t k = 0; k < slices; ++k) {
    const std::size_t first = static_cast<std::size_t>(k) * slice;
    loop(particles, first, std::min(first + slice, particles.at.n), eps2);
  }
}

}  // namespace gdr::bench
