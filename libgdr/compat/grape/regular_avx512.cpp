// The loops of regular sums for AVX-512; this file alone is compiled for it.
#if defined(__x86_64__)
#include <immintrin.h>

#include "libgdr/compat/grape/regular_loop.hpp"

namespace gdr::compat::grape {
namespace {

// The zero-masked forms (all lanes on) of some operations: the plain ones warn of their own
// undefined vector in GCC 12.
struct Avx512 {
  using Register = __m512d;
  using Mask = __mmask8;
  static constexpr std::size_t lanes = 8;
  static Register set(double x) { return _mm512_set1_pd(x); }
  static Register load(const double* from) { return _mm512_load_pd(from); }
  static void store(double* to, Register x) { _mm512_store_pd(to, x); }
  static Register add(Register a, Register b) { return _mm512_add_pd(a, b); }
  static Register sub(Register a, Register b) { return _mm512_sub_pd(a, b); }
  static Register mul(Register a, Register b) { return _mm512_mul_pd(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm512_fmadd_pd(a, b, c); }
  static Register fnma(Register a, Register b, Register c) { return _mm512_fnmadd_pd(a, b, c); }
  static Register min(Register a, Register b) { return _mm512_maskz_min_pd(0xFF, a, b); }
  static Mask less(Register a, Register b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
  static Mask and_not(Mask a, Mask b) { return static_cast<Mask>(~a & b); }
  static unsigned bits(Mask m) { return m; }
  static Register keep(Mask m, Register x) { return _mm512_maskz_mov_pd(m, x); }
};

/// Root and quotient take less time than steps on AMD's processors.
struct WithRoot : Avx512 {
  static Register rsqrt(Register x) { return _mm512_div_pd(set(1), _mm512_maskz_sqrt_pd(0xFF, x)); }
};

struct WithSteps : Avx512 {
  /// The estimate of 14 bits and a step of fourth order. Its square is a normal number up to 1e306,
  /// which stands for all larger ones.
  static Register rsqrt(Register x) {
    const Register least = min(x, set(1e306)), y = _mm512_maskz_rsqrt14_pd(0xFF, least);
    const Register e = fnma(least, mul(y, y), set(1));
    const Register series = fma(fma(set(0.3125), e, set(0.375)), e, set(0.5));
    return fma(mul(series, e), y, y);
  }
};

}  // namespace

const RegularLoops& regular_loops_avx512(bool with_root) noexcept {
  static constexpr RegularLoops root{regular_loop<WithRoot, false>, regular_loop<WithRoot, true>};
  static constexpr RegularLoops steps{regular_loop<WithSteps, false>,
                                      regular_loop<WithSteps, true>};
  return with_root ? root : steps;
}

}  // namespace gdr::compat::grape
#endif
