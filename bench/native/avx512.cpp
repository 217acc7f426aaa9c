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

}  // namespace

constinit const LoopSet avx512_loops = {
    {{"rsqrt14 + 2 Newton steps", pair_loop<Double8, Newton<Double8, 2>, GravityLaw, 4>},
     {fourth_order, pair_loop<Double8, Fourth, GravityLaw, 4>}},
    {{fourth_order, pair_loop<Double8, Fourth, JerkLaw, 1>},
     {fourth_order, pair_loop<Double8, Fourth, JerkLaw, 2>},
     {fourth_order, pair_loop<Double8, Fourth, JerkLaw, 4>}},
    {"rsqrt14 + one Newton step", pair_loop<Float16, Newton<Float16, 1>, GravityLaw, 2>}};

}  // namespace gdr::bench
