// The native loops for AVX2 with FMA; this file alone is compiled for it.
#include <immintrin.h>

#include "bench/native/pair_loop.hpp"

namespace gdr::bench {
namespace {

struct Double4 {
  using Real = double;
  using Register = __m256d;
  static constexpr std::size_t lanes = 4;
  static Register set(Real x) { return _mm256_set1_pd(x); }
  static Register load(const Real* from) { return _mm256_loadu_pd(from); }
  static void store(Real* to, Register x) { _mm256_storeu_pd(to, x); }
  static Register sub(Register a, Register b) { return _mm256_sub_pd(a, b); }
  static Register mul(Register a, Register b) { return _mm256_mul_pd(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm256_fmadd_pd(a, b, c); }
  static Register fnma(Register a, Register b, Register c) { return _mm256_fnmadd_pd(a, b, c); }
  using Indices = __m128i;
  static Register min(Register a, Register b) { return _mm256_min_pd(a, b); }
  static Indices indices(Register x) { return _mm256_cvttpd_epi32(x); }
  static Register number(Indices k) { return _mm256_cvtepi32_pd(k); }
  static Register gather(const Real* from, Indices k) {
    const Register all = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
    return _mm256_mask_i32gather_pd(_mm256_setzero_pd(), from, k, all, sizeof(Real));
  }
};

struct Float8 {
  using Real = float;
  using Register = __m256;
  static constexpr std::size_t lanes = 8;
  static Register set(Real x) { return _mm256_set1_ps(x); }
  static Register load(const Real* from) { return _mm256_loadu_ps(from); }
  static void store(Real* to, Register x) { _mm256_storeu_ps(to, x); }
  static Register sub(Register a, Register b) { return _mm256_sub_ps(a, b); }
  static Register mul(Register a, Register b) { return _mm256_mul_ps(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm256_fmadd_ps(a, b, c); }
  static Register fnma(Register a, Register b, Register c) { return _mm256_fnmadd_ps(a, b, c); }
  using Indices = __m256i;
  static Register min(Register a, Register b) { return _mm256_min_ps(a, b); }
  static Indices indices(Register x) { return _mm256_cvttps_epi32(x); }
  static Register number(Indices k) { return _mm256_cvtepi32_ps(k); }
  static Register gather(const Real* from, Indices k) {
    const Register all = _mm256_castsi256_ps(_mm256_set1_epi32(-1));
    return _mm256_mask_i32gather_ps(_mm256_setzero_ps(), from, k, all, sizeof(Real));
  }
  static Register add(Register a, Register b) { return _mm256_add_ps(a, b); }
  static void add_to_doubles(double* to, Register x) {
    const __m128 halves[] = {_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1)};
    for (int k = 0; k < 2; ++k)
      _mm256_storeu_pd(to + 4 * k,
                       _mm256_add_pd(_mm256_loadu_pd(to + 4 * k), _mm256_cvtps_pd(halves[k])));
  }
};

/// 12 bits of the float estimate and one step of fifth order, for x in the range of floats.
struct Fifth {
  static __m256d rsqrt(__m256d x) {
    const __m256d estimate = _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(x)));
    return high_order_step<Double4, 5>(x, estimate);
  }
};

struct Divide {
  static __m256d rsqrt(__m256d x) { return _mm256_div_pd(_mm256_set1_pd(1.0), _mm256_sqrt_pd(x)); }
};

/// 12 bits, then 23.
struct Newton {
  static __m256 rsqrt(__m256 x) { return newton_step<Float8>(x, _mm256_rsqrt_ps(x)); }
};

constexpr const char* fifth_order = "float estimate + one step of fifth order";
constexpr const char* one_step = "float estimate + one Newton step";

}  // namespace

constinit const LoopSet avx2_loops = {
    {{fifth_order, pair_loop<Double4, Fifth, GravityLaw, 2>},
     {"square root and division", pair_loop<Double4, Divide, GravityLaw, 2>}},
    {{fifth_order, pair_loop<Double4, Fifth, JerkLaw, 1>},
     {fifth_order, pair_loop<Double4, Fifth, JerkLaw, 2>},
     {fifth_order, pair_loop<Double4, Fifth, JerkLaw, 4>}},
    {one_step, pair_loop<Float8, Newton, GravityLaw, 2>},
    {one_step, pair_loop<Float8, Newton, GravityLaw, 2>},  // the estimate has 12 bits only
    {{"distances from pairs of floats", mixed_loop<Float8, Newton, FromPairs<Float8>, 1>},
     {"distances from pairs of floats", mixed_loop<Float8, Newton, FromPairs<Float8>, 2>}},
    {table_loop<Double4, 1>, table_loop<Double4, 2>, table_loop<Double4, 4>},
    {table_loop<Float8, 1>, table_loop<Float8, 2>, table_loop<Float8, 4>}};

}  // namespace gdr::bench
