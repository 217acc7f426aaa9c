// The kernels on doubles for NEON, which every processor of arm64 has.
#if defined(__aarch64__)
#include <arm_neon.h>

#include "emulator/engine/lanes/doubles/kernels.hpp"
#include "emulator/engine/lanes/doubles/tested_steps.hpp"

namespace gdr {
namespace {

/// The instructions that TestedSteps needs. Comparisons for less raise the flag of invalid
/// operations for every NaN; then a run that could be verified on x86 is repeated in integers.
struct LanesNeon {
  static constexpr std::size_t vectors = 4;
  static constexpr std::size_t width = 2 * vectors;
  using V = float64x2_t;
  using D = Batch<V, vectors>;
  using M = D;  ///< lanes of ones or zeros
  static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  static constexpr std::uint64_t exponent = std::uint64_t{2047} << 52;

  static constexpr bool holds_lanes = true;  ///< executes steps instead of tracing them
  static void leave() {}

  GDR_INLINE static D load(const double* p) {
    return batch_of<vectors>([p](std::size_t k) GDR_INLINE { return vld1q_f64(p + 2 * k); });
  }
  GDR_INLINE static void store(double* p, const D& x) {
    for_each_of(x, [p](V v, std::size_t k) GDR_INLINE { vst1q_f64(p + 2 * k, v); });
  }
  /// The first `n` lanes from memory, the others `rest`; reads nothing beyond the first `n`.
  static D load_some(const std::uint64_t* p, std::size_t n, std::uint64_t rest) {
    std::uint64_t lanes[width];
    for (std::size_t k = 0; k < width; ++k) lanes[k] = k < n ? p[k] : rest;
    return batch_of<vectors>([&lanes](std::size_t k)
                                 GDR_INLINE { return from(vld1q_u64(lanes + 2 * k)); });
  }
  static void store_some(std::uint64_t* p, std::size_t n, const D& x) {
    std::uint64_t lanes[width];
    for_each_of(x, [&lanes](V v, std::size_t k) GDR_INLINE { vst1q_u64(lanes + 2 * k, bits(v)); });
    for (std::size_t k = 0; k < n && k < width; ++k) p[k] = lanes[k];
  }
  GDR_INLINE static D set(double x) {
    return batch_of<vectors>([x](std::size_t) GDR_INLINE { return vdupq_n_f64(x); });
  }
  GDR_INLINE static D set_bits(std::uint64_t x) {
    return batch_of<vectors>([x](std::size_t) GDR_INLINE { return from(vdupq_n_u64(x)); });
  }
  /// A word of the broadcast memory in all lanes.
  GDR_INLINE static D broadcast(const std::uint64_t* word) { return set_bits(*word); }

  static constexpr auto add = lift([](V a, V b) GDR_INLINE { return vaddq_f64(a, b); });
  static constexpr auto sub = lift([](V a, V b) GDR_INLINE { return vsubq_f64(a, b); });
  static constexpr auto mul = lift([](V a, V b) GDR_INLINE { return vmulq_f64(a, b); });
  static constexpr auto fma = lift([](V a, V b, V c) GDR_INLINE { return vfmaq_f64(c, a, b); });
  static constexpr auto fnma = lift([](V a, V b, V c) GDR_INLINE { return vfmsq_f64(c, a, b); });
  /// -(c - a b) would have the other sign where the difference is zero.
  static constexpr auto fms =
      lift([](V a, V b, V c) GDR_INLINE { return vfmaq_f64(vnegq_f64(c), a, b); });

  // --- bits
  GDR_INLINE static uint64x2_t bits(V a) { return vreinterpretq_u64_f64(a); }
  GDR_INLINE static int64x2_t integers(V a) { return vreinterpretq_s64_f64(a); }
  GDR_INLINE static V from(uint64x2_t a) { return vreinterpretq_f64_u64(a); }
  GDR_INLINE static V complement(uint64x2_t a) {
    return vreinterpretq_f64_u32(vmvnq_u32(vreinterpretq_u32_u64(a)));
  }
  static constexpr auto and_ =
      lift([](V a, V b) GDR_INLINE { return from(vandq_u64(bits(a), bits(b))); });
  static constexpr auto or_ =
      lift([](V a, V b) GDR_INLINE { return from(vorrq_u64(bits(a), bits(b))); });
  static constexpr auto xor_ =
      lift([](V a, V b) GDR_INLINE { return from(veorq_u64(bits(a), bits(b))); });
  static constexpr auto and_not =
      lift([](V a, V b) GDR_INLINE { return from(vbicq_u64(bits(a), bits(b))); });

  static constexpr auto differ =
      lift([](V a, V b) GDR_INLINE { return complement(vceqq_f64(a, b)); });

  // --- comparisons and masks (lanes of the frame: all ones or zero)
  GDR_INLINE static M mask(const D& lanes) { return lanes; }
  GDR_INLINE static M not_(const M& m) { return xor_(m, set_bits(~std::uint64_t{0})); }
  GDR_INLINE static D ones(const M& m) { return m; }
  static constexpr auto both = and_;
  static constexpr auto either = or_;
  static constexpr auto select =
      lift([](V m, V yes, V no) GDR_INLINE { return vbslq_f64(bits(m), yes, no); });
  template <std::uint64_t Failure>
  GDR_INLINE static unsigned any(const M& m) {
    uint64x2_t found = vdupq_n_u64(0);
    for_each_of(m, [&found](V v, std::size_t) GDR_INLINE { found = vorrq_u64(found, bits(v)); });
    return static_cast<unsigned>((vgetq_lane_u64(found, 0) | vgetq_lane_u64(found, 1)) >> 63);
  }
  static constexpr auto less = lift([](V a, V b) GDR_INLINE { return from(vcltq_f64(a, b)); });
  static constexpr auto equal = lift([](V a, V b) GDR_INLINE { return from(vceqq_f64(a, b)); });
  static constexpr auto unordered = lift(
      [](V a, V b) GDR_INLINE { return complement(vandq_u64(vceqq_f64(a, a), vceqq_f64(b, b))); });
  /// Infinite or not a number.
  static constexpr auto beyond = lift([](V a) GDR_INLINE {
    const int64x2_t magnitude = vreinterpretq_s64_u64(vbicq_u64(bits(a), vdupq_n_u64(sign)));
    return from(vcgeq_s64(magnitude, vdupq_n_s64(0x7ff0000000000000)));
  });
  /// Known only in traces.
  static constexpr bool is_checked(const D&) { return false; }
  static constexpr auto bits_equal =
      lift([](V a, V b) GDR_INLINE { return from(vceqq_u64(bits(a), bits(b))); });
  static constexpr auto bits_less =
      lift([](V a, V b) GDR_INLINE { return from(vcltq_s64(integers(a), integers(b))); });

  // --- integers
  static constexpr auto bits_add =
      lift([](V a, V b) GDR_INLINE { return from(vaddq_u64(bits(a), bits(b))); });
  static constexpr auto bits_sub =
      lift([](V a, V b) GDR_INLINE { return from(vsubq_u64(bits(a), bits(b))); });
  template <int N>
  static constexpr auto shl = lift([](V a) GDR_INLINE { return from(vshlq_n_u64(bits(a), N)); });
  template <int N>
  static constexpr auto shr = lift([](V a) GDR_INLINE { return from(vshrq_n_u64(bits(a), N)); });
  /// Counts of 64 and more give zero; the instruction takes the last byte, as a signed number.
  static constexpr auto shlv = lift([](V a, V n) GDR_INLINE {
    const uint64x2_t below_64 = vcltq_u64(bits(n), vdupq_n_u64(64));
    return from(vandq_u64(below_64, vshlq_u64(bits(a), integers(n))));
  });
  static constexpr auto shrv = lift([](V a, V n) GDR_INLINE {
    const uint64x2_t below_64 = vcltq_u64(bits(n), vdupq_n_u64(64));
    return from(vandq_u64(below_64, vshlq_u64(bits(a), vnegq_s64(integers(n)))));
  });
  /// Integers below 2^52 as doubles and back: the fraction of 2^52 + n is n.
  GDR_INLINE static D to_double(const D& a) { return sub(or_(a, set(0x1p52)), set(0x1p52)); }
  GDR_INLINE static D to_integer(const D& a) { return xor_(add(a, set(0x1p52)), set(0x1p52)); }

  /// Whether a bit other than the sign is set in a lane.
  static bool any_bit_set(const D& x) {
    return any<1>(not_(bits_equal(and_(x, set_bits(~sign)), set(0)))) != 0;
  }
};
using HostNeon = TestedSteps<LanesNeon>;

}  // namespace

const DoublesKernels& doubles_kernels_neon(std::uint32_t batch) noexcept {
  static constexpr DoublesKernels wide = make_doubles_kernels<HostNeon>(wide_batch);
  static constexpr DoublesKernels narrow = make_doubles_kernels<HostNeon>(narrow_batch);
  return batch == narrow_batch ? narrow : wide;
}

}  // namespace gdr
#endif
