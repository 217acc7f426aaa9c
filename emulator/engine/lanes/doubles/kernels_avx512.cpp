// The kernels on doubles for AVX-512; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include <type_traits>

#include "emulator/engine/lanes/doubles/flag_steps.hpp"
#include "emulator/engine/lanes/doubles/kernels.hpp"

namespace gdr {
namespace {

/// The instructions that FlagSteps needs, on interleaved vectors.
template <std::size_t Vectors>
struct LanesAvx512 {
  static constexpr std::size_t vectors = Vectors;
  static constexpr std::size_t width = 8 * vectors;
  using V = __m512d;
  using B = __mmask8;
  using D = Batch<V, vectors>;
  using M = Batch<B, vectors>;

  static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  static constexpr std::uint64_t exponent = std::uint64_t{2047} << 52;

  static constexpr bool holds_lanes = true;  ///< executes steps instead of tracing them
  static void leave() { _mm256_zeroupper(); }

  GDR_INLINE static D load(const double* p) {
    return batch_of<vectors>([p](std::size_t k) GDR_INLINE { return _mm512_load_pd(p + 8 * k); });
  }
  GDR_INLINE static void store(double* p, const D& x) {
    for_each_of(x, [p](V v, std::size_t k) GDR_INLINE { _mm512_store_pd(p + 8 * k, v); });
  }
  static B first(std::size_t n) { return static_cast<B>(n < 8 ? (1U << n) - 1 : 0xffU); }
  static B first(std::size_t n, std::size_t k) { return n > 8 * k ? first(n - 8 * k) : B{0}; }
  /// The first `n` lanes from memory, the others `rest`; reads nothing beyond the first `n`.
  static D load_some(const std::uint64_t* p, std::size_t n, std::uint64_t rest) {
    return batch_of<vectors>([=](std::size_t k) GDR_INLINE {
      return from(_mm512_mask_loadu_epi64(_mm512_set1_epi64(static_cast<long long>(rest)),
                                          first(n, k), p + 8 * k));
    });
  }
  static void store_some(std::uint64_t* p, std::size_t n, const D& x) {
    for_each_of(x, [=](V v, std::size_t k)
                       GDR_INLINE { _mm512_mask_storeu_epi64(p + 8 * k, first(n, k), bits(v)); });
  }
  GDR_INLINE static D set(double x) {
    return batch_of<vectors>([x](std::size_t) GDR_INLINE { return _mm512_set1_pd(x); });
  }
  GDR_INLINE static D set_bits(std::uint64_t x) {
    return batch_of<vectors>(
        [x](std::size_t) GDR_INLINE { return from(_mm512_set1_epi64(static_cast<long long>(x))); });
  }
  /// A word of the broadcast memory in all lanes.
  GDR_INLINE static D broadcast(const std::uint64_t* word) { return set_bits(*word); }
  GDR_INLINE static __m512i bits(V a) { return _mm512_castpd_si512(a); }
  GDR_INLINE static V from(__m512i a) { return _mm512_castsi512_pd(a); }

  /// Known only in traces.
  static constexpr bool is_checked(const D&) { return false; }
  /// Differs only in traces.
  static constexpr bool less_frequent(const D&, const D&) { return false; }

  // --- steps that must be exact
  static constexpr auto add = lift([](V a, V b) GDR_INLINE { return _mm512_add_pd(a, b); });
  static constexpr auto sub = lift([](V a, V b) GDR_INLINE { return _mm512_sub_pd(a, b); });
  static constexpr auto mul = lift([](V a, V b) GDR_INLINE { return _mm512_mul_pd(a, b); });
  static constexpr auto fma =
      lift([](V a, V b, V c) GDR_INLINE { return _mm512_fmadd_pd(a, b, c); });
  static constexpr auto fms =
      lift([](V a, V b, V c) GDR_INLINE { return _mm512_fmsub_pd(a, b, c); });
  static constexpr auto fnma =
      lift([](V a, V b, V c) GDR_INLINE { return _mm512_fnmadd_pd(a, b, c); });

  // --- steps that round
  template <int Mode>
  using Rounding = std::integral_constant<int, Mode | _MM_FROUND_NO_EXC>;
  static constexpr Rounding<_MM_FROUND_TO_NEAREST_INT> nearest{};
  static constexpr Rounding<_MM_FROUND_TO_NEG_INF> down{};
  static constexpr Rounding<_MM_FROUND_TO_POS_INF> up{};
  static constexpr Rounding<_MM_FROUND_TO_ZERO> truncate{};
  GDR_INLINE static D add_round(auto mode, const D& a, const D& b) {
    return lift([](V x, V y)
                    GDR_INLINE { return _mm512_add_round_pd(x, y, decltype(mode)::value); })(a, b);
  }
  GDR_INLINE static D sub_round(auto mode, const D& a, const D& b) {
    return lift([](V x, V y)
                    GDR_INLINE { return _mm512_sub_round_pd(x, y, decltype(mode)::value); })(a, b);
  }
  GDR_INLINE static D mul_round(auto mode, const D& a, const D& b) {
    return lift([](V x, V y)
                    GDR_INLINE { return _mm512_mul_round_pd(x, y, decltype(mode)::value); })(a, b);
  }
  GDR_INLINE static D fma_round(auto mode, const D& a, const D& b, const D& c) {
    return lift([](V x, V y, V z) GDR_INLINE {
      return _mm512_fmadd_round_pd(x, y, z, decltype(mode)::value);
    })(a, b, c);
  }
  GDR_INLINE static D fms_round(auto mode, const D& a, const D& b, const D& c) {
    return lift([](V x, V y, V z) GDR_INLINE {
      return _mm512_fmsub_round_pd(x, y, z, decltype(mode)::value);
    })(a, b, c);
  }
  GDR_INLINE static D fnma_round(auto mode, const D& a, const D& b, const D& c) {
    return lift([](V x, V y, V z) GDR_INLINE {
      return _mm512_fnmadd_round_pd(x, y, z, decltype(mode)::value);
    })(a, b, c);
  }

  // --- bits
  static constexpr auto and_ =
      lift([](V a, V b) GDR_INLINE { return from(_mm512_and_si512(bits(a), bits(b))); });
  static constexpr auto or_ =
      lift([](V a, V b) GDR_INLINE { return from(_mm512_or_si512(bits(a), bits(b))); });
  static constexpr auto xor_ =
      lift([](V a, V b) GDR_INLINE { return from(_mm512_xor_si512(bits(a), bits(b))); });
  template <int Table>
  static constexpr auto logic_of = lift([](V a, V b, V c) GDR_INLINE {
    return from(_mm512_ternarylogic_epi64(bits(a), bits(b), bits(c), Table));
  });

  /// The operand of the larger magnitude.
  static constexpr auto larger =
      lift([](V x, V y) GDR_INLINE { return _mm512_range_pd(x, y, 0x7); });

  /// x with its last bit set where the mask is set.
  static constexpr auto set_last = lift([](B m, V x) GDR_INLINE {
    return from(_mm512_mask_or_epi64(bits(x), m, bits(x), _mm512_set1_epi64(1)));
  });
  static constexpr auto differ =
      lift([](V a, V b) GDR_INLINE { return _mm512_cmp_pd_mask(a, b, _CMP_NEQ_UQ); });

  // --- comparisons and masks (lanes of the frame: all ones or zero)
  static constexpr auto mask =
      lift([](V lanes) GDR_INLINE { return _mm512_test_epi64_mask(bits(lanes), bits(lanes)); });
  static constexpr auto not_ = lift([](B m) GDR_INLINE { return static_cast<B>(~m); });
  static constexpr auto both = lift([](B a, B b) GDR_INLINE { return static_cast<B>(a & b); });
  static constexpr auto either = lift([](B a, B b) GDR_INLINE { return static_cast<B>(a | b); });
  static constexpr auto ones = lift([](B m) GDR_INLINE { return from(_mm512_movm_epi64(m)); });
  static constexpr auto select =
      lift([](B m, V yes, V no) GDR_INLINE { return _mm512_mask_blend_pd(m, no, yes); });
  template <std::uint64_t Failure>
  GDR_INLINE static unsigned any(const M& m) {
    unsigned found = 0;
    for_each_of(m, [&found](B b, std::size_t) GDR_INLINE { found |= b; });
    return found;
  }
  static constexpr auto less =
      lift([](V a, V b) GDR_INLINE { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); });
  static constexpr auto equal =
      lift([](V a, V b) GDR_INLINE { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); });
  static constexpr auto unordered =
      lift([](V a, V b) GDR_INLINE { return _mm512_cmp_pd_mask(a, b, _CMP_UNORD_Q); });
  static constexpr auto bits_equal =
      lift([](V a, V b) GDR_INLINE { return _mm512_cmpeq_epi64_mask(bits(a), bits(b)); });
  /// Infinite or not a number.
  static constexpr auto beyond =
      lift([](V a) GDR_INLINE { return _mm512_fpclass_pd_mask(a, 0x99); });
  static constexpr auto bits_less =
      lift([](V a, V b) GDR_INLINE { return _mm512_cmplt_epi64_mask(bits(a), bits(b)); });

  // --- integers
  static constexpr auto bits_add =
      lift([](V a, V b) GDR_INLINE { return from(_mm512_add_epi64(bits(a), bits(b))); });
  static constexpr auto bits_sub =
      lift([](V a, V b) GDR_INLINE { return from(_mm512_sub_epi64(bits(a), bits(b))); });
  template <int N>
  static constexpr auto shl = lift([](V a)
                                       GDR_INLINE { return from(_mm512_slli_epi64(bits(a), N)); });
  template <int N>
  static constexpr auto shr = lift([](V a)
                                       GDR_INLINE { return from(_mm512_srli_epi64(bits(a), N)); });
  static constexpr auto shlv =
      lift([](V a, V n) GDR_INLINE { return from(_mm512_sllv_epi64(bits(a), bits(n))); });
  static constexpr auto shrv =
      lift([](V a, V n) GDR_INLINE { return from(_mm512_srlv_epi64(bits(a), bits(n))); });
  /// Integers below 2^52 as doubles and back.
  static constexpr auto to_double =
      lift([](V a) GDR_INLINE { return _mm512_cvtepi64_pd(bits(a)); });
  static constexpr auto to_integer =
      lift([](V a) GDR_INLINE { return from(_mm512_cvttpd_epi64(a)); });
};
template <std::uint32_t Lanes>
using HostAvx512 = FlagSteps<LanesAvx512<Lanes / 8>>;

}  // namespace

const DoublesKernels& doubles_kernels_avx512(std::uint32_t batch) noexcept {
  static constexpr DoublesKernels wide = make_doubles_kernels<HostAvx512<wide_batch>>(wide_batch);
  static constexpr DoublesKernels narrow =
      make_doubles_kernels<HostAvx512<narrow_batch>>(narrow_batch);
  return batch == narrow_batch ? narrow : wide;
}

}  // namespace gdr
#endif
