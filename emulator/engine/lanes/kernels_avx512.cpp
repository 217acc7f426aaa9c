// The strip kernels for AVX-512; compiled with its flags (see emulator/CMakeLists.txt).
#if defined(__x86_64__)
#include <immintrin.h>

#include "emulator/engine/lanes/kernels.hpp"

namespace gdr {
namespace {

/// Eight lanes: AVX-512 (F, DQ, CD). Masks are bits.
struct Avx512Lanes {
  using V = __m512i;
  using M = __mmask8;
  static constexpr unsigned width = 8;
  static constexpr bool has_float = true;

  static V load(const std::uint64_t* p) { return _mm512_loadu_si512(p); }
  static void store(std::uint64_t* p, V v) { _mm512_storeu_si512(p, v); }
  static V set(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
  static V add(V a, V b) { return _mm512_add_epi64(a, b); }
  static V sub(V a, V b) { return _mm512_sub_epi64(a, b); }
  static V and_(V a, V b) { return _mm512_and_si512(a, b); }
  static V or_(V a, V b) { return _mm512_or_si512(a, b); }
  static V xor_(V a, V b) { return _mm512_xor_si512(a, b); }
  static V and_or(V a, V mask, V b) { return _mm512_ternarylogic_epi64(a, mask, b, 0xea); }
  template <int N>
  static V shl(V a) {
    return _mm512_slli_epi64(a, N);
  }
  template <int N>
  static V shr(V a) {
    return _mm512_srli_epi64(a, N);
  }
  static V shlv(V a, V n) { return _mm512_sllv_epi64(a, n); }
  static V shrv(V a, V n) { return _mm512_srlv_epi64(a, n); }
  static V mul32(V a, V b) { return _mm512_mul_epu32(a, b); }
  static V leading_zeros(V a) { return _mm512_lzcnt_epi64(a); }
  static M eq(V a, V b) { return _mm512_cmpeq_epi64_mask(a, b); }
  static M ne(V a, V b) { return _mm512_cmpneq_epi64_mask(a, b); }
  static M lt(V a, V b) { return _mm512_cmplt_epi64_mask(a, b); }
  static M lt_unsigned(V a, V b) { return _mm512_cmplt_epu64_mask(a, b); }
  static M both(M a, M b) { return _kand_mask8(a, b); }
  static M either(M a, M b) { return _kor_mask8(a, b); }
  static M not_(M a) { return _knot_mask8(a); }
  static V select(M m, V yes, V no) { return _mm512_mask_blend_epi64(m, no, yes); }
  static V keep(M m, V v) { return _mm512_maskz_mov_epi64(m, v); }
  static V ones(M m) { return _mm512_movm_epi64(m); }
  static unsigned bits(M m) { return m; }

  static V add_double(V a, V b) {
    return _mm512_castpd_si512(_mm512_add_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)));
  }
  static V sub_double(V a, V b) {
    return _mm512_castpd_si512(_mm512_sub_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)));
  }
  static V mul_double(V a, V b) {
    return _mm512_castpd_si512(_mm512_mul_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b)));
  }
  static V fma_double(V a, V b, V c) {
    return _mm512_castpd_si512(
        _mm512_fmadd_pd(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _mm512_castsi512_pd(c)));
  }
  static M is_nan(V a) {
    return _mm512_cmp_pd_mask(_mm512_castsi512_pd(a), _mm512_castsi512_pd(a), _CMP_UNORD_Q);
  }
};

}  // namespace

const StripKernels& avx512_kernels() noexcept {
  static constexpr StripKernels kernels = make_kernels<Avx512Lanes, ScalarLanes<2>>();
  return kernels;
}

}  // namespace gdr
#endif
