// Matrix products for NEON, which every processor of arm64 has.
#if defined(__aarch64__)
#include <arm_neon.h>

#include "emulator/engine/matmul/cpu/exact.hpp"
#include "emulator/engine/matmul/cpu/fast.hpp"

namespace gdr {
namespace {

/// Two lanes. Masks are vectors of all ones or zero.
struct Neon : ItemsOneByOne<Neon> {
  using V = float64x2_t;
  using M = uint64x2_t;
  static constexpr Isa isa = Isa::Neon;
  static constexpr std::size_t width = 2;
  static constexpr bool exponents_ahead = true, has_exponent_estimates = true;

  static V load(const double* p) { return vld1q_f64(p); }
  static void store(double* p, V x) { vst1q_f64(p, x); }
  static V all(double x) { return vdupq_n_f64(x); }
  static V add(V a, V b) { return vaddq_f64(a, b); }
  static V sub(V a, V b) { return vsubq_f64(a, b); }
  static V mul(V a, V b) { return vmulq_f64(a, b); }
  static V fma(V a, V b, V c) { return vfmaq_f64(c, a, b); }
  static V fms(V a, V b, V c) { return vfmaq_f64(vnegq_f64(c), a, b); }
  static V fnma(V a, V b, V c) { return vfmsq_f64(c, a, b); }
  static V max(V a, V b) { return vmaxq_f64(a, b); }
  static M zero(V x) { return vceqzq_f64(x); }
  static M nonzero(V x) { return not_(vceqzq_f64(x)); }
  static M less(V a, V b) { return vcltq_f64(a, b); }
  /// Zero in lanes in which both are zero.
  static V bits_of(V a, V b) { return number(vorrq_u64(bits(a), bits(b))); }
  /// x + rest rounded to odd, for a rest below x's last bit.
  static V to_odd(V x, V rest) {
    const uint64x2_t one = vdupq_n_u64(1);
    const int64x2_t apart = vreinterpretq_s64_u64(veorq_u64(bits(x), bits(rest)));
    const M even = vceqzq_u64(vandq_u64(bits(x), one));
    // 1 or -1 where x changes.
    const uint64x2_t step = vorrq_u64(one, vcltzq_s64(apart));
    const M move = vandq_u64(even, nonzero(rest));
    const V odd = number(vaddq_u64(bits(x), vandq_u64(move, step)));
    return select(zero(x), rest, odd);
  }
  static bool any(M m) { return vmaxvq_u32(vreinterpretq_u32_u64(m)) != 0; }
  static bool any(V x) { return has_bits(x); }
  static V select(M m, V yes, V no) { return vbslq_f64(m, yes, no); }

  /// 2^e of x + rest, where x is that sum rounded to nearest: one unit less if the rest has the
  /// other sign. For a power of two without a rest it may be one less; then nothing is rounded.
  static V exponent(V x, V rest) {
    const uint64x2_t away = vshrq_n_u64(veorq_u64(bits(x), bits(rest)), 63);
    return number(vandq_u64(vsubq_u64(bits(x), away), vdupq_n_u64(exponent_bits)));
  }
  /// `most` for -0, for which any finite number is correct.
  static V exponent_of_product(V a, V b, V most) {
    const V p = mul(a, b);
    return vminq_f64(exponent(p, fms(a, b, p)), most);
  }
  /// The same for many products with rounding towards zero: two operations each instead of seven.
  /// The compiler keeps only memory accesses between the changes of the mode.
  template <std::size_t Together>
  static void exponents(const double* numbers, const double* items, std::size_t depth, double* to) {
    constexpr std::uint64_t towards_zero = std::uint64_t{3} << 22;
    std::uint64_t nearest = 0;
    asm volatile("mrs %0, fpcr" : "=r"(nearest));
    asm volatile("msr fpcr, %0" : : "r"(nearest | towards_zero) : "memory");
    for (std::size_t k = 0; k < depth; ++k) {
      const V a = load(numbers + k * panel_lanes);
#pragma GCC unroll 4
      for (std::size_t j = 0; j < Together; ++j)
        store(to + (k * Together + j) * width,
              number(vandq_u64(bits(mul(a, all(items[k * Together + j]))),
                               vdupq_n_u64(exponent_bits))));
    }
    asm volatile("msr fpcr, %0" : : "r"(nearest) : "memory");
  }
  /// `a` must be a multiple of the distance between doubles at b, so that the rest is exact.
  static V exponent_of_sum(V a, V b) {
    const V s = add(a, b);
    return exponent(s, sub(b, sub(s, a)));
  }
  /// 2^e, with a sign, of the value that was rounded to nearest as x: less than half of the work.
  /// Sets bits of `inexact` where x is a power of two, to which it may have been rounded up.
  static V estimate_exponent(V x, V& inexact) {
    const V e = number(vandq_u64(bits(x), vdupq_n_u64(~std::uint64_t{0} << 52)));
    inexact = number(vorrq_u64(bits(inexact), vceqq_f64(e, x)));
    return e;
  }

  static double power(int e) {
    const std::uint64_t bits = static_cast<std::uint64_t>(e + 1023) << 52;
    double x = 0;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
  }
  /// The least a[k] + b[k].
  static int min_sum(const std::int16_t* a, const std::int16_t* b, std::size_t n) {
    int16x8_t least = vdupq_n_s16(2 * last_exponent);
    std::size_t k = 0;
    for (; k + 8 <= n; k += 8)
      least = vminq_s16(least, vaddq_s16(vld1q_s16(a + k), vld1q_s16(b + k)));
    int found = vminvq_s16(least);
    for (; k < n; ++k) found = a[k] + b[k] < found ? a[k] + b[k] : found;
    return found;
  }

  // --- fast products

  static constexpr std::size_t mr = 8, nr = 6;
  static bool has_bits(V x) { return any(bits(x)); }
  /// Transposes.
  static void transpose(V (&x)[width]) {
    const V a = x[0], b = x[1];
    x[0] = vzip1q_f64(a, b);
    x[1] = vzip2q_f64(a, b);
  }
  /// Makes NaN canonical.
  static V canonical(V x) {
    return select(vceqq_f64(x, x), x, number(vdupq_n_u64(0x7ff8'0000'0000'0000)));
  }

 private:
  static constexpr std::uint64_t exponent_bits = 0x7ff0'0000'0000'0000;
  static uint64x2_t bits(V x) { return vreinterpretq_u64_f64(x); }
  static V number(uint64x2_t x) { return vreinterpretq_f64_u64(x); }
  static M not_(M m) { return vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(m))); }
};

}  // namespace

const MatmulFunctions& exact_matmul_neon() noexcept {
  static constexpr MatmulFunctions functions{ExactMatmul<Neon>::gather, ExactMatmul<Neon>::scratch,
                                             ExactMatmul<Neon>::run};
  return functions;
}

const FastMatmulFunctions& fast_matmul_neon() noexcept {
  static constexpr FastMatmulFunctions functions{FastMatmul<Neon>::pack, FastMatmul<Neon>::loop_jr};
  return functions;
}

}  // namespace gdr
#endif
