// The strip kernels for NEON, which every processor of arm64 has.
#if defined(__aarch64__)
#include <arm_neon.h>

#include "emulator/engine/lanes/kernels.hpp"

namespace gdr {
namespace {

/// Two lanes: NEON. Masks are vectors of all ones or zero.
struct NeonLanes {
  using V = uint64x2_t;
  using M = uint64x2_t;
  static constexpr unsigned width = 2;
  static constexpr bool has_float = true;

  static V load(const std::uint64_t* p) { return vld1q_u64(p); }
  static void store(std::uint64_t* p, V v) { vst1q_u64(p, v); }
  static V set(std::uint64_t x) { return vdupq_n_u64(x); }
  static V add(V a, V b) { return vaddq_u64(a, b); }
  static V sub(V a, V b) { return vsubq_u64(a, b); }
  static V and_(V a, V b) { return vandq_u64(a, b); }
  static V or_(V a, V b) { return vorrq_u64(a, b); }
  static V xor_(V a, V b) { return veorq_u64(a, b); }
  static V and_or(V a, V mask, V b) { return or_(and_(a, mask), b); }
  template <int N>
  static V shl(V a) {
    return vshlq_n_u64(a, N);
  }
  template <int N>
  static V shr(V a) {
    return vshrq_n_u64(a, N);
  }
  /// The instruction takes the last byte of a count, as a signed number.
  static V shlv(V a, V n) { return keep(lt_unsigned(n, set(64)), vshlq_u64(a, as_signed(n))); }
  static V shrv(V a, V n) {
    return keep(lt_unsigned(n, set(64)), vshlq_u64(a, vnegq_s64(as_signed(n))));
  }
  static V mul32(V a, V b) { return vmull_u32(vmovn_u64(a), vmovn_u64(b)); }
  /// Of the upper half; of the lower one, too, where that is zero.
  static V leading_zeros(V a) {
    const V halves = vreinterpretq_u64_u32(vclzq_u32(vreinterpretq_u32_u64(a)));
    const V upper = shr<32>(halves);
    return add(upper, keep(eq(upper, set(32)), and_(halves, set(0xffffffff))));
  }
  static M eq(V a, V b) { return vceqq_u64(a, b); }
  static M ne(V a, V b) { return not_(vceqq_u64(a, b)); }
  static M lt(V a, V b) { return vcltq_s64(as_signed(a), as_signed(b)); }
  static M lt_unsigned(V a, V b) { return vcltq_u64(a, b); }
  static M both(M a, M b) { return vandq_u64(a, b); }
  static M either(M a, M b) { return vorrq_u64(a, b); }
  static M not_(M a) { return vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64(a))); }
  static V select(M m, V yes, V no) { return vbslq_u64(m, yes, no); }
  static V keep(M m, V v) { return vandq_u64(m, v); }
  static V ones(M m) { return m; }
  static unsigned bits(M m) {
    const std::uint64_t lanes = vget_lane_u64(vreinterpret_u64_u32(vmovn_u64(m)), 0);
    return static_cast<unsigned>((lanes & 1) | lanes >> 63 << 1);
  }

  static V add_double(V a, V b) { return from(vaddq_f64(number(a), number(b))); }
  static V sub_double(V a, V b) { return from(vsubq_f64(number(a), number(b))); }
  static V mul_double(V a, V b) { return from(vmulq_f64(number(a), number(b))); }
  static V fma_double(V a, V b, V c) { return from(vfmaq_f64(number(c), number(a), number(b))); }
  static M is_nan(V a) { return not_(vceqq_f64(number(a), number(a))); }

 private:
  static int64x2_t as_signed(V a) { return vreinterpretq_s64_u64(a); }
  static float64x2_t number(V a) { return vreinterpretq_f64_u64(a); }
  static V from(float64x2_t a) { return vreinterpretq_u64_f64(a); }
};

}  // namespace

const StripKernels& neon_kernels() noexcept {
  static constexpr StripKernels kernels = make_kernels<NeonLanes, ScalarLanes<1>>();
  return kernels;
}

}  // namespace gdr
#endif
