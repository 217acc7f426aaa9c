// The native loops for NEON; this file alone is for arm64. `gdr bench arm-instructions` compiles
// it with a cross compiler, without the standard library and other headers of GDR.
#include <arm_neon.h>

#include "bench/native/pair_loop.hpp"

namespace gdr::bench {
namespace {

struct Double2 {
  using Real = double;
  using Register = float64x2_t;
  static constexpr std::size_t lanes = 2;
  static Register set(Real x) { return vdupq_n_f64(x); }
  static Register load(const Real* from) { return vld1q_f64(from); }
  static void store(Real* to, Register x) { vst1q_f64(to, x); }
  static Register add(Register a, Register b) { return vaddq_f64(a, b); }
  static Register sub(Register a, Register b) { return vsubq_f64(a, b); }
  static Register mul(Register a, Register b) { return vmulq_f64(a, b); }
  static Register fma(Register a, Register b, Register c) { return vfmaq_f64(c, a, b); }
  static Register fnma(Register a, Register b, Register c) { return vfmsq_f64(c, a, b); }
  static Register rsqrt_estimate(Register x) { return vrsqrteq_f64(x); }
  static Register rsqrt_step(Register x, Register y) { return vrsqrtsq_f64(x, y); }
  static Register recip_estimate(Register x) { return vrecpeq_f64(x); }
  static Register recip_step(Register x, Register y) { return vrecpsq_f64(x, y); }
  /// x where 0 < a < b, else zero.
  static Register where_between(Register a, Register b, Register x) {
    const uint64x2_t inside = vandq_u64(vcgtzq_f64(a), vcltq_f64(a, b));
    return vreinterpretq_f64_u64(vandq_u64(inside, vreinterpretq_u64_f64(x)));
  }
};

struct Float4 {
  using Real = float;
  using Register = float32x4_t;
  static constexpr std::size_t lanes = 4;
  static Register set(Real x) { return vdupq_n_f32(x); }
  static Register load(const Real* from) { return vld1q_f32(from); }
  static void store(Real* to, Register x) { vst1q_f32(to, x); }
  static Register add(Register a, Register b) { return vaddq_f32(a, b); }
  static Register sub(Register a, Register b) { return vsubq_f32(a, b); }
  static Register mul(Register a, Register b) { return vmulq_f32(a, b); }
  static Register fma(Register a, Register b, Register c) { return vfmaq_f32(c, a, b); }
  static Register fnma(Register a, Register b, Register c) { return vfmsq_f32(c, a, b); }
  static Register rsqrt_estimate(Register x) { return vrsqrteq_f32(x); }
  static Register rsqrt_step(Register x, Register y) { return vrsqrtsq_f32(x, y); }
  static Register recip_estimate(Register x) { return vrecpeq_f32(x); }
  static Register recip_step(Register x, Register y) { return vrecpsq_f32(x, y); }
  static Register where_between(Register a, Register b, Register x) {
    const uint32x4_t inside = vandq_u32(vcgtzq_f32(a), vcltq_f32(a, b));
    return vreinterpretq_f32_u32(vandq_u32(inside, vreinterpretq_u32_f32(x)));
  }
};

/// 8 bits of the estimates, twice as many after each Newton step.
template <typename V, int steps>
struct Newton {
  using Register = typename V::Register;
  static Register rsqrt(Register x) {
    Register y = V::rsqrt_estimate(x);
    for (int k = 0; k < steps; ++k) y = V::mul(y, V::rsqrt_step(x, V::mul(y, y)));
    return y;
  }
  static Register recip(Register x) {
    Register y = V::recip_estimate(x);
    for (int k = 0; k < steps; ++k) y = V::mul(y, V::recip_step(x, y));
    return y;
  }
};

/// 16 bits after a Newton step, and a step of fourth order.
struct FourthOrder {
  static float64x2_t rsqrt(float64x2_t x) {
    return high_order_step<Double2, 4>(x, Newton<Double2, 1>::rsqrt(x));
  }
};

using FullDoubles = Newton<Double2, 3>;
using FullFloats = Newton<Float4, 2>;

constexpr const char* one_step = "estimate + a Newton step";
constexpr const char* two_steps = "estimate + two Newton steps";
constexpr const char* three_steps = "estimate + three Newton steps";
constexpr const char* fourth_order = "estimate + a Newton step + a step of fourth order";

}  // namespace

constinit const LoopSet neon_loops = {
    {{three_steps, pair_loop<Double2, FullDoubles, GravityLaw, 2>},
     {fourth_order, pair_loop<Double2, FourthOrder, GravityLaw, 2>}},
    {{three_steps, pair_loop<Double2, FullDoubles, JerkLaw, 1>},
     {three_steps, pair_loop<Double2, FullDoubles, JerkLaw, 2>},
     {three_steps, pair_loop<Double2, FullDoubles, JerkLaw, 4>}},
    {two_steps, pair_loop<Float4, FullFloats, GravityLaw, 2>},
    {one_step, pair_loop<Float4, Newton<Float4, 1>, GravityLaw, 2>},
    {},
    {},
    {}};

/// The loops that `gdr bench arm-instructions` finds in machine code: two Newton steps give as many
/// bits as the engines have of kernels in shorts, and of floats.
template <typename V>
struct CountedLoops {
  using Root = Newton<V, 2>;
  Loop<typename V::Real> gravity[3] = {pair_loop<V, Root, GravityLaw, 1>,
                                       pair_loop<V, Root, GravityLaw, 2>,
                                       pair_loop<V, Root, GravityLaw, 4>};
  Loop<typename V::Real> jerk[3] = {pair_loop<V, Root, JerkLaw, 1>, pair_loop<V, Root, JerkLaw, 2>,
                                    pair_loop<V, Root, JerkLaw, 4>};
  Loop<typename V::Real> lennard_jones[3] = {pair_loop<V, Root, LennardJonesLaw, 1>,
                                             pair_loop<V, Root, LennardJonesLaw, 2>,
                                             pair_loop<V, Root, LennardJonesLaw, 4>};
};
[[gnu::used]] constinit const CountedLoops<Double2> counted_doubles;
[[gnu::used]] constinit const CountedLoops<Float4> counted_floats;

}  // namespace gdr::bench
