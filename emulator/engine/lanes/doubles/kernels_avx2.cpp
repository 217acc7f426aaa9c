// The kernels on doubles for AVX2; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include "emulator/engine/lanes/doubles/kernels.hpp"
#include "emulator/engine/lanes/doubles/tested_steps.hpp"

namespace gdr {
namespace {

/// The instructions that TestedSteps needs.
struct LanesAvx2 {
  static constexpr std::size_t vectors = 2;
  static constexpr std::size_t width = 4 * vectors;
  using V = __m256d;
  using D = Batch<V, vectors>;
  using M = D;  ///< lanes of ones or zeros
  static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  static constexpr std::uint64_t exponent = std::uint64_t{2047} << 52;

  static constexpr bool holds_lanes = true;  ///< executes steps instead of tracing them
  static void leave() { _mm256_zeroupper(); }

  GDR_INLINE static D load(const double* p) {
    return batch_of<vectors>([p](std::size_t k) GDR_INLINE { return _mm256_load_pd(p + 4 * k); });
  }
  GDR_INLINE static void store(double* p, const D& x) {
    for_each_of(x, [p](V v, std::size_t k) GDR_INLINE { _mm256_store_pd(p + 4 * k, v); });
  }
  static __m256i first(std::size_t n, std::size_t k) {
    const auto count = static_cast<long long>(n < 4 * k ? 0 : n - 4 * k);
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }
  /// The first `n` lanes from memory, the others `rest`; reads nothing beyond the first `n`.
  GDR_INLINE static D load_some(const std::uint64_t* p, std::size_t n, std::uint64_t rest) {
    return batch_of<vectors>([=](std::size_t k) GDR_INLINE {
      const auto* lanes = reinterpret_cast<const long long*>(p + 4 * k);
      return _mm256_blendv_pd(from(_mm256_set1_epi64x(static_cast<long long>(rest))),
                              from(_mm256_maskload_epi64(lanes, first(n, k))), from(first(n, k)));
    });
  }
  static void store_some(std::uint64_t* p, std::size_t n, const D& x) {
    for_each_of(x, [=](V v, std::size_t k) GDR_INLINE {
      _mm256_maskstore_epi64(reinterpret_cast<long long*>(p + 4 * k), first(n, k), bits(v));
    });
  }
  GDR_INLINE static D set(double x) {
    return batch_of<vectors>([x](std::size_t) GDR_INLINE { return _mm256_set1_pd(x); });
  }
  GDR_INLINE static D set_bits(std::uint64_t x) {
    return batch_of<vectors>([x](std::size_t) GDR_INLINE {
      return from(_mm256_set1_epi64x(static_cast<long long>(x)));
    });
  }
  /// A word of the broadcast memory in all lanes.
  GDR_INLINE static D broadcast(const std::uint64_t* word) { return set_bits(*word); }

  static constexpr auto add = lift([](V a, V b) GDR_INLINE { return _mm256_add_pd(a, b); });
  static constexpr auto sub = lift([](V a, V b) GDR_INLINE { return _mm256_sub_pd(a, b); });
  static constexpr auto mul = lift([](V a, V b) GDR_INLINE { return _mm256_mul_pd(a, b); });
  static constexpr auto fma =
      lift([](V a, V b, V c) GDR_INLINE { return _mm256_fmadd_pd(a, b, c); });
  static constexpr auto fnma =
      lift([](V a, V b, V c) GDR_INLINE { return _mm256_fnmadd_pd(a, b, c); });
  static constexpr auto fms =
      lift([](V a, V b, V c) GDR_INLINE { return _mm256_fmsub_pd(a, b, c); });

  // --- bits
  GDR_INLINE static __m256i bits(V a) { return _mm256_castpd_si256(a); }
  GDR_INLINE static V from(__m256i a) { return _mm256_castsi256_pd(a); }
  static constexpr auto and_ = lift([](V a, V b) GDR_INLINE { return _mm256_and_pd(a, b); });
  static constexpr auto or_ = lift([](V a, V b) GDR_INLINE { return _mm256_or_pd(a, b); });
  static constexpr auto xor_ = lift([](V a, V b) GDR_INLINE { return _mm256_xor_pd(a, b); });
  static constexpr auto and_not = lift([](V a, V b) GDR_INLINE { return _mm256_andnot_pd(b, a); });

  static constexpr auto differ =
      lift([](V a, V b) GDR_INLINE { return _mm256_cmp_pd(a, b, _CMP_NEQ_UQ); });

  // --- comparisons and masks (lanes of the frame: all ones or zero)
  GDR_INLINE static M mask(const D& lanes) { return lanes; }
  GDR_INLINE static M not_(const M& m) { return xor_(m, set_bits(~std::uint64_t{0})); }
  GDR_INLINE static D ones(const M& m) { return m; }
  static constexpr auto both = and_;
  static constexpr auto either = or_;
  static constexpr auto select =
      lift([](V m, V yes, V no) GDR_INLINE { return _mm256_blendv_pd(no, yes, m); });
  template <std::uint64_t Failure>
  GDR_INLINE static unsigned any(const M& m) {
    int found = 0;
    for_each_of(m, [&found](V v, std::size_t) GDR_INLINE { found |= _mm256_movemask_pd(v); });
    return static_cast<unsigned>(found);
  }
  static constexpr auto less =
      lift([](V a, V b) GDR_INLINE { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); });
  static constexpr auto equal =
      lift([](V a, V b) GDR_INLINE { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); });
  static constexpr auto unordered =
      lift([](V a, V b) GDR_INLINE { return _mm256_cmp_pd(a, b, _CMP_UNORD_Q); });
  /// Infinite or not a number.
  static constexpr auto beyond = lift([](V a) GDR_INLINE {
    const V magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
    return _mm256_cmp_pd(magnitude, from(_mm256_set1_epi64x(0x7ff0000000000000)), _CMP_NLT_UQ);
  });
  /// Known only in traces.
  static constexpr bool is_checked(const D&) { return false; }
  static constexpr auto bits_equal =
      lift([](V a, V b) GDR_INLINE { return from(_mm256_cmpeq_epi64(bits(a), bits(b))); });
  static constexpr auto bits_less =
      lift([](V a, V b) GDR_INLINE { return from(_mm256_cmpgt_epi64(bits(b), bits(a))); });

  // --- integers
  static constexpr auto bits_add =
      lift([](V a, V b) GDR_INLINE { return from(_mm256_add_epi64(bits(a), bits(b))); });
  static constexpr auto bits_sub =
      lift([](V a, V b) GDR_INLINE { return from(_mm256_sub_epi64(bits(a), bits(b))); });
  template <int N>
  static constexpr auto shl = lift([](V a)
                                       GDR_INLINE { return from(_mm256_slli_epi64(bits(a), N)); });
  template <int N>
  static constexpr auto shr = lift([](V a)
                                       GDR_INLINE { return from(_mm256_srli_epi64(bits(a), N)); });
  static constexpr auto shlv =
      lift([](V a, V n) GDR_INLINE { return from(_mm256_sllv_epi64(bits(a), bits(n))); });
  static constexpr auto shrv =
      lift([](V a, V n) GDR_INLINE { return from(_mm256_srlv_epi64(bits(a), bits(n))); });
  /// Integers below 2^52 as doubles and back: the fraction of 2^52 + n is n.
  GDR_INLINE static D to_double(const D& a) { return sub(or_(a, set(0x1p52)), set(0x1p52)); }
  GDR_INLINE static D to_integer(const D& a) { return xor_(add(a, set(0x1p52)), set(0x1p52)); }

  /// Whether a bit other than the sign is set in a lane.
  static bool any_bit_set(const D& x) {
    return any<1>(not_(bits_equal(and_(x, set_bits(~sign)), set(0)))) != 0;
  }
};
using HostAvx2 = TestedSteps<LanesAvx2>;

}  // namespace

const DoublesKernels& doubles_kernels_avx2(std::uint32_t batch) noexcept {
  static constexpr DoublesKernels wide = make_doubles_kernels<HostAvx2>(wide_batch);
  static constexpr DoublesKernels narrow = make_doubles_kernels<HostAvx2>(narrow_batch);
  return batch == narrow_batch ? narrow : wide;
}

}  // namespace gdr
#endif
