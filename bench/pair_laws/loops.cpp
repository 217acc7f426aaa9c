// Loops over pairs that a compiler makes into vectors: `-O3 -march=native -ffast-math`, functions
// of libmvec. bench/python_laws.py compiles this file, once for each type of number.
//
// x: coordinates, one array after the other; m: masses, then halves of smoothing lengths; p: the
// parameter of the law; out: results, one array after the other.
#include <algorithm>
#include <cmath>

namespace {

/// The results of `count` sums for every target. `add(i, j, d, r2, sums)` adds a pair's terms.
template <int count, typename Add>
void pairs(long n, const Real* x, Real* out, Add add) {
  const Real *y = x + n, *z = y + n;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < n; ++i) {
    Real s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0;
    const Real xi = x[i], yi = y[i], zi = z[i];
    for (long j = 0; j < n; ++j) {
      const Real dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
      add(i, j, dx, dy, dz, dx * dx + dy * dy + dz * dz, s0, s1, s2, s3, s4);
    }
    const Real sums[] = {s0, s1, s2, s3, s4};
    for (int k = 0; k < count; ++k) out[k * n + i] = sums[k];
  }
}

}  // namespace

#define ADD                                                                                       \
  [=](long i, long j, Real dx, Real dy, Real dz, Real r2, Real& s0, Real& s1, Real& s2, Real& s3, \
      Real& s4)

extern "C" {
void lennard_jones(long n, const Real* x, const Real*, Real p, Real* out) {
  pairs<5>(
      n, x, out, ADD {
        const bool in = r2 > 0 && r2 < p;
        const Real i2 = 1 / (in ? r2 : 1);
        const Real i6 = in ? i2 * i2 * i2 : 0;
        const Real w = 2 * i6 * i6 - i6, f = 24 * w * i2;
        s0 -= f * dx;
        s1 -= f * dy;
        s2 -= f * dz;
        s3 += 4 * (i6 * i6 - i6);
        s4 += 24 * w;
      });
}

void sph_density(long n, const Real* x, const Real* m, Real, Real* out) {
  const Real* const half = m + n;
  pairs<2>(
      n, x, out, ADD {
        const Real hi = 1 / (half[i] + half[j]);
        const Real q = std::sqrt(r2) * hi;
        const Real o = std::max(2 - q, Real(0)), c = std::max(1 - q, Real(0));
        s0 += Real(0.3183098861837907) * m[j] * (hi * hi * hi) *
              (Real(0.25) * (o * o * o) - c * c * c);
        s1 += q < 2 ? Real(1) : Real(0);
      });
}

void gauss_sum(long n, const Real* x, const Real* m, Real p, Real* out) {
  pairs<1>(
      n, x, out, ADD { s0 += m[j] * std::exp(-p * r2); });
}

void yukawa(long n, const Real* x, const Real* m, Real p, Real* out) {
  pairs<1>(
      n, x, out, ADD {
        const Real r = std::sqrt(r2);
        s0 += (r2 > 0 ? m[j] : 0) * std::exp(-p * r) / (r2 > 0 ? r : 1);
      });
}
}
