// The strip kernels for AVX2; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include "emulator/engine/lanes/kernels.hpp"

namespace gdr {
namespace {

/// Four lanes: AVX2. Masks are vectors of all ones or zero.
struct Avx2Lanes {
  using V = __m256i;
  using M = __m256i;
  static constexpr unsigned width = 4;
  static constexpr bool has_float = true;

  static V load(const std::uint64_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static void store(std::uint64_t* p, V v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v);
  }
  static V set(std::uint64_t x) { return _mm256_set1_epi64x(static_cast<long long>(x)); }
  static V add(V a, V b) { return _mm256_add_epi64(a, b); }
  static V sub(V a, V b) { return _mm256_sub_epi64(a, b); }
  static V and_(V a, V b) { return _mm256_and_si256(a, b); }
  static V or_(V a, V b) { return _mm256_or_si256(a, b); }
  static V xor_(V a, V b) { return _mm256_xor_si256(a, b); }
  static V and_or(V a, V mask, V b) { return or_(and_(a, mask), b); }
  template <int N>
  static V shl(V a) {
    return _mm256_slli_epi64(a, N);
  }
  template <int N>
  static V shr(V a) {
    return _mm256_srli_epi64(a, N);
  }
  static V shlv(V a, V n) { return _mm256_sllv_epi64(a, n); }
  static V shrv(V a, V n) { return _mm256_srlv_epi64(a, n); }
  static V mul32(V a, V b) { return _mm256_mul_epu32(a, b); }
  /// By conversion to double. a & ~(a >> 1) has the same leading bit and cannot round up to the
  /// next power of two; the two halves are converted exactly by putting them below the exponents
  /// of 2^84 and 2^52. 0 gives a count above 64, which shifts everything out.
  static V leading_zeros(V a) {
    const V x = _mm256_andnot_si256(_mm256_srli_epi64(a, 1), a);
    const V upper = or_(_mm256_srli_epi64(x, 32), set(0x4530000000000000));
    const V lower = _mm256_blend_epi32(set(0x4330000000000000), x, 0x55);
    const __m256d magic = _mm256_set1_pd(0x1.00000001p84);  // 2^84 + 2^52
    const __m256d sum =
        _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(upper), magic), _mm256_castsi256_pd(lower));
    return sub(set(1023 + 63), _mm256_srli_epi64(_mm256_castpd_si256(sum), 52));
  }
  static M eq(V a, V b) { return _mm256_cmpeq_epi64(a, b); }
  static M ne(V a, V b) { return _mm256_xor_si256(_mm256_cmpeq_epi64(a, b), set(~0ULL)); }
  static M lt(V a, V b) { return _mm256_cmpgt_epi64(b, a); }
  static M lt_unsigned(V a, V b) {
    const V top = set(std::uint64_t{1} << 63);
    return lt(xor_(a, top), xor_(b, top));
  }
  static M both(M a, M b) { return _mm256_and_si256(a, b); }
  static M either(M a, M b) { return _mm256_or_si256(a, b); }
  static M not_(M a) { return _mm256_xor_si256(a, set(~0ULL)); }
  static V select(M m, V yes, V no) { return _mm256_blendv_epi8(no, yes, m); }
  static V keep(M m, V v) { return _mm256_and_si256(m, v); }
  static V ones(M m) { return m; }
  static unsigned bits(M m) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(m)));
  }

  static V add_double(V a, V b) {
    return _mm256_castpd_si256(_mm256_add_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b)));
  }
  static V sub_double(V a, V b) {
    return _mm256_castpd_si256(_mm256_sub_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b)));
  }
  static V mul_double(V a, V b) {
    return _mm256_castpd_si256(_mm256_mul_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b)));
  }
  static V fma_double(V a, V b, V c) {
    return _mm256_castpd_si256(
        _mm256_fmadd_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), _mm256_castsi256_pd(c)));
  }
  static M is_nan(V a) {
    return _mm256_castpd_si256(
        _mm256_cmp_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(a), _CMP_UNORD_Q));
  }
};

}  // namespace

const StripKernels& avx2_kernels() noexcept {
  static constexpr StripKernels kernels = make_kernels<Avx2Lanes, ScalarLanes<1>>();
  return kernels;
}

}  // namespace gdr
#endif
