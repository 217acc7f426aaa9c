// The native loops for AVX-512; this file alone is compiled for it.
#include <immintrin.h>

#include "bench/native/pair_loop.hpp"

namespace gdr::bench {
namespace {

// The zero-masked estimates (all lanes on): the plain ones warn of their own undefined vector in
// GCC 12.
struct Double8 {
  using Real = double;
  using Register = __m512d;
  static constexpr std::size_t lanes = 8;
  static Register set(Real x) { return _mm512_set1_pd(x); }
  static Register load(const Real* from) { return _mm512_loadu_pd(from); }
  static void store(Real* to, Register x) { _mm512_storeu_pd(to, x); }
  static Register sub(Register a, Register b) { return _mm512_sub_pd(a, b); }
  static Register mul(Register a, Register b) { return _mm512_mul_pd(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm512_fmadd_pd(a, b, c); }
  static Register fnma(Register a, Register b, Register c) { return _mm512_fnmadd_pd(a, b, c); }
  static Register estimate(Register x) { return _mm512_maskz_rsqrt14_pd(0xFF, x); }
  using Indices = __m256i;
  static Register min(Register a, Register b) { return _mm512_maskz_min_pd(0xFF, a, b); }
  static Indices indices(Register x) { return _mm512_maskz_cvttpd_epi32(0xFF, x); }
  static Register number(Indices k) { return _mm512_maskz_cvtepi32_pd(0xFF, k); }
  static Register gather(const Real* from, Indices k) {
    return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), 0xFF, k, from, sizeof(Real));
  }
};

struct Float16 {
  using Real = float;
  using Register = __m512;
  static constexpr std::size_t lanes = 16;
  static Register set(Real x) { return _mm512_set1_ps(x); }
  static Register load(const Real* from) { return _mm512_loadu_ps(from); }
  static void store(Real* to, Register x) { _mm512_storeu_ps(to, x); }
  static Register sub(Register a, Register b) { return _mm512_sub_ps(a, b); }
  static Register mul(Register a, Register b) { return _mm512_mul_ps(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm512_fmadd_ps(a, b, c); }
  static Register fnma(Register a, Register b, Register c) { return _mm512_fnmadd_ps(a, b, c); }
  static Register estimate(Register x) { return _mm512_maskz_rsqrt14_ps(0xFFFF, x); }
  using Indices = __m512i;
  static Register min(Register a, Register b) { return _mm512_maskz_min_ps(0xFFFF, a, b); }
  static Indices indices(Register x) { return _mm512_maskz_cvttps_epi32(0xFFFF, x); }
  static Register number(Indices k) { return _mm512_maskz_cvtepi32_ps(0xFFFF, k); }
  static Register gather(const Real* from, Indices k) {
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), 0xFFFF, k, from, sizeof(Real));
  }
  static Register add(Register a, Register b) { return _mm512_add_ps(a, b); }
  static void add_to_doubles(double* to, Register x) {
    const __m256 halves[] = {_mm512_maskz_extractf32x8_ps(0xFF, x, 0),
                             _mm512_maskz_extractf32x8_ps(0xFF, x, 1)};
    for (int k = 0; k < 2; ++k)
      _mm512_storeu_pd(to + 8 * k, _mm512_add_pd(_mm512_loadu_pd(to + 8 * k),
                                                 _mm512_maskz_cvtps_pd(0xFF, halves[k])));
  }
};

/// Distances of a mixed loop from doubles.
struct FromDoubles {
  static __m512 distance(const MixedArrays& p, std::size_t c, std::size_t j, std::size_t i) {
    const __m512d source = _mm512_set1_pd(p.position[c][j]);
    __m256 half[2];
    for (std::size_t k = 0; k < 2; ++k)
      half[k] = _mm512_maskz_cvtpd_ps(
          0xFF, _mm512_sub_pd(source, _mm512_loadu_pd(p.position[c] + i + 8 * k)));
    return _mm512_mask_broadcast_f32x8(_mm512_maskz_broadcast_f32x8(0x00FF, half[0]), 0xFF00,
                                       half[1]);
  }
};

/// 14 bits, then 28, then 53 (or all 24 of a float).
template <typename V, int steps>
struct Newton {
  static typename V::Register rsqrt(typename V::Register x) {
    auto y = V::estimate(x);
    for (int step = 0; step < steps; ++step) y = newton_step<V>(x, y);
    return y;
  }
};

/// 14 bits and one step of fourth order.
struct Fourth {
  static __m512d rsqrt(__m512d x) { return high_order_step<Double8, 4>(x, Double8::estimate(x)); }
};

constexpr const char* fourth_order = "rsqrt14 + one step of fourth order";
constexpr const char* one_step = "rsqrt14 + one Newton step";

}  // namespace

constinit const LoopSet avx512_loops = {
    {{"rsqrt14 + 2 Newton steps", pair_loop<Double8, Newton<Double8, 2>, GravityLaw, 4>},
     {fourth_order, pair_loop<Double8, Fourth, GravityLaw, 4>}},
    {{fourth_order, pair_loop<Double8, Fourth, JerkLaw, 1>},
     {fourth_order, pair_loop<Double8, Fourth, JerkLaw, 2>},
     {fourth_order, pair_loop<Double8, Fourth, JerkLaw, 4>}},
    {one_step, pair_loop<Float16, Newton<Float16, 1>, GravityLaw, 2>},
    {"rsqrt14", pair_loop<Float16, Newton<Float16, 0>, GravityLaw, 2>},
    {{"distances from pairs of floats",
      mixed_loop<Float16, Newton<Float16, 1>, FromPairs<Float16>, 1>},
     {"distances from pairs of floats",
      mixed_loop<Float16, Newton<Float16, 1>, FromPairs<Float16>, 2>},
     {"distances from doubles", mixed_loop<Float16, Newton<Float16, 1>, FromDoubles, 1>},
     {"distances from doubles", mixed_loop<Float16, Newton<Float16, 1>, FromDoubles, 2>}},
    {table_loop<Double8, 1>, table_loop<Double8, 2>, table_loop<Double8, 4>},
    {table_loop<Float16, 1>, table_loop<Float16, 2>, table_loop<Float16, 4>}};

}  // namespace gdr::bench
