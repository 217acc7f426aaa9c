// The same loops in floats, written by hand for AVX-512, or for AVX2 with FMA: some vectors of
// targets side by side, estimates with a Newton step in place of divisions and roots, e^x by a
// polynomial of degree 5. Errors are those of the functions of floats (a few units of the last
// place).
//
// bench/python_laws.py compiles this file for the host's instruction set. x, m, p and out are those
// of loops.cpp; n is a multiple of 64.
#include <immintrin.h>

namespace {

#ifdef __AVX512F__
struct V {
  static constexpr int lanes = 16;
  __m512 r;
  using Mask = __mmask16;
  V(__m512 from) : r(from) {}
  V(float x) : r(_mm512_set1_ps(x)) {}
  V() : V(0.0F) {}
  static V load(const float* from) { return _mm512_loadu_ps(from); }
  void store(float* to) const { _mm512_storeu_ps(to, r); }
};
inline V operator+(V a, V b) { return _mm512_add_ps(a.r, b.r); }
inline V operator-(V a, V b) { return _mm512_sub_ps(a.r, b.r); }
inline V operator*(V a, V b) { return _mm512_mul_ps(a.r, b.r); }
inline V fma(V a, V b, V c) { return _mm512_fmadd_ps(a.r, b.r, c.r); }    // a b + c
inline V fms(V a, V b, V c) { return _mm512_fmsub_ps(a.r, b.r, c.r); }    // a b - c
inline V fnma(V a, V b, V c) { return _mm512_fnmadd_ps(a.r, b.r, c.r); }  // c - a b
inline V larger(V a, V b) { return _mm512_max_ps(a.r, b.r); }
inline V rcp_estimate(V x) { return _mm512_rcp14_ps(x.r); }
inline V rsqrt_estimate(V x) { return _mm512_rsqrt14_ps(x.r); }
inline V::Mask less(V a, V b) { return _mm512_cmp_ps_mask(a.r, b.r, _CMP_LT_OQ); }
inline V::Mask less(V a, V b, V::Mask also) {
  return _mm512_mask_cmp_ps_mask(also, a.r, b.r, _CMP_LT_OQ);
}
inline V where(V::Mask m, V x) { return _mm512_maskz_mov_ps(m, x.r); }  // else zero
inline V rounded(V x) { return _mm512_roundscale_ps(x.r, 0); }
inline V scaled(V x, V n) { return _mm512_scalef_ps(x.r, n.r); }  // x 2^n
#else
struct V {
  static constexpr int lanes = 8;
  __m256 r;
  using Mask = __m256;
  V(__m256 from) : r(from) {}
  V(float x) : r(_mm256_set1_ps(x)) {}
  V() : V(0.0F) {}
  static V load(const float* from) { return _mm256_loadu_ps(from); }
  void store(float* to) const { _mm256_storeu_ps(to, r); }
};
inline V operator+(V a, V b) { return _mm256_add_ps(a.r, b.r); }
inline V operator-(V a, V b) { return _mm256_sub_ps(a.r, b.r); }
inline V operator*(V a, V b) { return _mm256_mul_ps(a.r, b.r); }
inline V fma(V a, V b, V c) { return _mm256_fmadd_ps(a.r, b.r, c.r); }    // a b + c
inline V fms(V a, V b, V c) { return _mm256_fmsub_ps(a.r, b.r, c.r); }    // a b - c
inline V fnma(V a, V b, V c) { return _mm256_fnmadd_ps(a.r, b.r, c.r); }  // c - a b
inline V larger(V a, V b) { return _mm256_max_ps(a.r, b.r); }
inline V rcp_estimate(V x) { return _mm256_rcp_ps(x.r); }
inline V rsqrt_estimate(V x) { return _mm256_rsqrt_ps(x.r); }
inline V::Mask less(V a, V b) { return _mm256_cmp_ps(a.r, b.r, _CMP_LT_OQ); }
inline V::Mask less(V a, V b, V::Mask also) { return _mm256_and_ps(less(a, b), also); }
inline V where(V::Mask m, V x) { return _mm256_and_ps(m, x.r); }  // else zero
inline V rounded(V x) {
  return _mm256_round_ps(x.r, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
inline V scaled(V x, V n) {
  const __m256i power = _mm256_slli_epi32(_mm256_cvtps_epi32(n.r), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x.r), power));
}
#endif

/// Newton steps.
inline V reciprocal(V x) {
  const V y = rcp_estimate(x);
  return fma(fnma(x, y, 1), y, y);
}
inline V inverse_root(V x) {
  const V y = rsqrt_estimate(x);
  return fma(fnma(x * y, y, 1), V(0.5F) * y, y);
}

/// e^x for x from -87 to 0, 2^n e^f with |f| <= log(2) / 2: a minimax polynomial with an error of
/// 9.2e-8 for e^f.
inline V exponential(V x) {
  const V n = rounded(x * V(1.44269504F));
  const V f = fnma(n, V(-2.12194440e-4F), fnma(n, V(0.693359375F), x));
  V p = fma(f, V(0.00829031F), V(0.04189797F));
  p = fma(p, f, V(0.16667636F));
  p = fma(p, f, V(0.49999149F));
  p = fma(p, f, V(0.99999971F));
  return scaled(fma(p, f, V(1)), n);
}

/// `add(i, j, d, r2, sums)` adds the terms of source j to the sums of the targets from i on;
/// `finish(sums)` makes them results. Sums are those of blocks of 256 sources, whose errors of
/// rounding do not grow with n.
template <int count, int vectors, typename Add, typename Finish>
void pairs(long n, const float* x, float* out, Add add, Finish finish) {
  constexpr int step = V::lanes * vectors;
  constexpr long block = 256;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; i += step) {
    V totals[vectors][count];
    for (long begin = 0; begin < n; begin += block) {
      V sums[vectors][count];
      const long end = begin + block < n ? begin + block : n;
      for (long j = begin; j < end; ++j) {
        const V xj = x[j], yj = x[n + j], zj = x[2 * n + j];
        for (int k = 0; k < vectors; ++k) {
          const float* const at = x + i + k * V::lanes;
          const V d[] = {xj - V::load(at), yj - V::load(at + n), zj - V::load(at + 2 * n)};
          const V r2 = fma(d[2], d[2], fma(d[1], d[1], d[0] * d[0]));
          add(i + k * V::lanes, j, d, r2, sums[k]);
        }
      }
      for (int k = 0; k < vectors; ++k)
        for (int s = 0; s < count; ++s) totals[k][s] = totals[k][s] + sums[k][s];
    }
    for (int k = 0; k < vectors; ++k) {
      finish(totals[k]);
      for (int s = 0; s < count; ++s) totals[k][s].store(out + s * n + i + k * V::lanes);
    }
  }
}

}  // namespace

extern "C" {
void lennard_jones(long n, const float* x, const float*, float p, float* out) {
  const auto add = [=](long, long, const V(&d)[3], V r2, V* sums) {
    const V i2 = where(less(0, r2, less(r2, p)), reciprocal(r2));
    const V i6 = i2 * i2 * i2;
    const V u = fms(i6, i6, i6), w = fma(i6, i6, u), f = w * i2;
    for (int c = 0; c < 3; ++c) sums[c] = fnma(f, d[c], sums[c]);
    sums[3] = sums[3] + u;
    sums[4] = sums[4] + w;
  };
  const auto finish = [](V* sums) {
    for (int s = 0; s < 5; ++s) sums[s] = sums[s] * V(s == 3 ? 4 : 24);
  };
  pairs<5, GDR_VECTORS>(n, x, out, add, finish);
}

void sph_density(long n, const float* x, const float* m, float, float* out) {
  const float* const half = m + n;
  const auto add = [=](long i, long j, const V(&d)[3], V r2, V* sums) {
    const V hi = reciprocal(V(half[j]) + V::load(half + i));
    const V q = larger(r2, 1e-30F) * inverse_root(larger(r2, 1e-30F)) * hi;
    const V o = larger(V(2) - q, 0), c = larger(V(1) - q, 0);
    const V w = fms(o * o, V(0.25F) * o, c * c * c);
    sums[0] = fma(V(m[j]) * hi * (hi * hi), w, sums[0]);
    sums[1] = sums[1] + where(less(q, 2), 1);
  };
  const auto finish = [](V* sums) { sums[0] = sums[0] * V(0.31830988618F); };
  pairs<2, GDR_VECTORS>(n, x, out, add, finish);
}

void gauss_sum(long n, const float* x, const float* m, float p, float* out) {
  const auto add = [=](long, long j, const V(&)[3], V r2, V* sums) {
    sums[0] = fma(m[j], exponential(r2 * V(-p)), sums[0]);
  };
  pairs<1, GDR_VECTORS>(n, x, out, add, [](V*) {});
}

void yukawa(long n, const float* x, const float* m, float p, float* out) {
  const auto add = [=](long, long j, const V(&)[3], V r2, V* sums) {
    const V inverse = where(less(0, r2), inverse_root(r2));
    sums[0] = fma(m[j] * inverse, exponential(r2 * inverse * V(-p)), sums[0]);
  };
  pairs<1, GDR_VECTORS>(n, x, out, add, [](V*) {});
}
}
