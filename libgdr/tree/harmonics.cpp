#include "libgdr/tree/harmonics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "libgdr/tree/harmonic_lanes.hpp"

namespace gdr::tree {
namespace {

/// The place of order 0 in an array with the orders -n to n of each degree.
constexpr std::size_t middle(std::size_t n) { return n * n + n; }

constexpr std::size_t all_terms = (max_harmonics + 1) * (max_harmonics + 1);
using AllTerms = std::array<ComplexLanes, all_terms>;

/// The functions R of points.
GDR_INLINE void make_regular(unsigned degree, const Lanes (&x)[3], Terms& r) {
  const Lanes square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  set_lanes(1, r[0].re);
  set_lanes(0, r[0].im);
  for (std::size_t m = 0; m <= degree; ++m) {
    ComplexLanes& d = r[place(m, m)];
    if (m > 0) {
      const ComplexLanes& before = r[place(m - 1, m - 1)];
      const double scale = 0.5 / static_cast<double>(m);
      d.re = (x[0] * before.re - x[1] * before.im) * scale;
      d.im = (x[0] * before.im + x[1] * before.re) * scale;
    }
    if (m == degree) break;
    r[place(m + 1, m)] = {x[2] * d.re, x[2] * d.im};
    for (std::size_t n = m + 2; n <= degree; ++n) {
      const double scale = 1.0 / static_cast<double>(n * n - m * m);
      const Lanes a = x[2] * (static_cast<double>(2 * n - 1) * scale), b = square * scale;
      const ComplexLanes &one = r[place(n - 1, m)], &two = r[place(n - 2, m)];
      r[place(n, m)] = {a * one.re - b * two.re, a * one.im - b * two.im};
    }
  }
}

/// The functions I of unit vectors.
GDR_INLINE void make_irregular(unsigned degree, const Lanes (&x)[3], Terms& f) {
  set_lanes(1, f[0].re);
  set_lanes(0, f[0].im);
  for (std::size_t m = 0; m <= degree; ++m) {
    ComplexLanes& d = f[place(m, m)];
    if (m > 0) {
      const ComplexLanes& before = f[place(m - 1, m - 1)];
      const auto scale = static_cast<double>(2 * m - 1);
      d.re = (x[0] * before.re - x[1] * before.im) * scale;
      d.im = (x[0] * before.im + x[1] * before.re) * scale;
    }
    if (m == degree) break;
    const Lanes first = x[2] * static_cast<double>(2 * m + 1);
    f[place(m + 1, m)] = {first * d.re, first * d.im};
    for (std::size_t n = m + 2; n <= degree; ++n) {
      const Lanes a = x[2] * static_cast<double>(2 * n - 1);
      const auto b = static_cast<double>((n - 1) * (n - 1) - m * m);
      const ComplexLanes &one = f[place(n - 1, m)], &two = f[place(n - 2, m)];
      f[place(n, m)] = {a * one.re - b * two.re, a * one.im - b * two.im};
    }
  }
}

/// All orders of functions, of which those of orders -m are (-1)^m times the conjugates; or their
/// conjugates.
template <bool conjugate>
GDR_INLINE void expand(unsigned degree, const Terms& some, AllTerms& all) {
  for (std::size_t n = 0; n <= degree; ++n) {
    ComplexLanes* const to = &all[middle(n)];
    const ComplexLanes* const from = &some[place(n, 0)];
    for (std::size_t m = 0; m <= n; ++m) {
      const double sign = m % 2 == 0 ? 1 : -1;
      const Lanes im = conjugate ? -from[m].im : from[m].im;
      to[m] = {from[m].re, im};
      *(to - m) = {from[m].re * sign, im * -sign};
    }
  }
}

/// The sum over n and m of a_nm b_(n + k)(m + l), up to n + k = degree.
GDR_INLINE void contract(unsigned degree, const AllTerms& a, const AllTerms& b, std::size_t k,
                         std::size_t l, ComplexLanes& result) {
  Lanes rr, ii, ri, ir;
  set_lanes(0, rr);
  ii = ri = ir = rr;
  for (std::size_t n = 0; n + k <= degree; ++n) {
    const ComplexLanes* const p = &a[n * n];
    const ComplexLanes* const q = &b[middle(n + k) + l - n];
    for (std::size_t m = 0; m <= 2 * n; ++m) {
      rr += p[m].re * q[m].re;
      ii += p[m].im * q[m].im;
      ri += p[m].re * q[m].im;
      ir += p[m].im * q[m].re;
    }
  }
  result = {rr - ii, ri + ir};
}

/// Vectors from a centre to up to lane_count particles; the others are at the centre.
GDR_INLINE void load_points(const ParticleArrays& p, std::size_t first, const Frame& frame,
                            Lanes (&x)[3]) {
  for (Lanes& lanes : x) set_lanes(0, lanes);
  const double scale = 1 / frame.radius;
  for (std::size_t k = 0; k < lane_count && first + k < p.n; ++k) {
    x[0][k] = (p.x[first + k] - frame.centre[0]) * scale;
    x[1][k] = (p.y[first + k] - frame.centre[1]) * scale;
    x[2][k] = (p.z[first + k] - frame.centre[2]) * scale;
  }
}

}  // namespace

GDR_FOR_EACH_ISA void add_particles(unsigned degree, const ParticleArrays& particles,
                                    const Frame& frame, double* multipole) {
  Terms r, sum;
  clear(degree, sum);
  for (std::size_t first = 0; first < particles.n; first += lane_count) {
    Lanes x[3], mass;
    load_points(particles, first, frame, x);
    set_lanes(0, mass);
    for (std::size_t k = 0; k < lane_count && first + k < particles.n; ++k)
      mass[k] = particles.mass[first + k];
    make_regular(degree, x, r);
    for (std::size_t t = 0; t < place(degree + 1, 0); ++t) {
      sum[t].re += mass * r[t].re;
      sum[t].im += mass * r[t].im;
    }
  }
  for (std::size_t t = 0; t < place(degree + 1, 0); ++t) {
    multipole[2 * t] += sum_of(sum[t].re);
    multipole[2 * t + 1] += sum_of(sum[t].im);
  }
}

GDR_FOR_EACH_ISA void add_multipoles_of(unsigned degree, std::span<const Expansion> parts,
                                        const Frame& frame, double* multipole) {
  Terms r, part;
  AllTerms all_r, all_part;
  for (std::size_t first = 0; first < parts.size(); first += lane_count) {
    Lanes x[3];
    for (Lanes& lanes : x) set_lanes(0, lanes);
    clear(degree, part);
    for (std::size_t k = 0; k < lane_count && first + k < parts.size(); ++k) {
      const Expansion& e = parts[first + k];
      for (std::size_t c = 0; c < 3; ++c)
        x[c][k] = (e.frame.centre[c] - frame.centre[c]) / frame.radius;
      load_lane(degree, e.numbers, e.frame.radius / frame.radius, k, part);
    }
    make_regular(degree, x, r);
    expand<false>(degree, r, all_r);
    expand<false>(degree, part, all_part);
    for (std::size_t n = 0, t = 0; n <= degree; ++n)
      for (std::size_t m = 0; m <= n; ++m, ++t) {
        Lanes re, im;
        set_lanes(0, re);
        set_lanes(0, im);
        for (std::size_t k = 0; k <= n; ++k) {
          // The orders l of R_kl with |l| <= k and |m - l| <= n - k.
          const auto order = static_cast<std::ptrdiff_t>(m), of = static_cast<std::ptrdiff_t>(k);
          const std::ptrdiff_t rest = static_cast<std::ptrdiff_t>(n) - of;
          for (std::ptrdiff_t l = std::max(-of, order - rest); l <= std::min(of, order + rest);
               ++l) {
            const ComplexLanes& a = (&all_r[middle(k)])[l];
            const ComplexLanes& b = (&all_part[middle(n - k)])[order - l];
            re += a.re * b.re - a.im * b.im;
            im += a.re * b.im + a.im * b.re;
          }
        }
        multipole[2 * t] += sum_of(re);
        multipole[2 * t + 1] += sum_of(im);
      }
  }
}

GDR_FOR_EACH_ISA void add_far_clusters_by_sums(unsigned degree, unsigned multipole_degree,
                                               std::span<const Expansion> clusters,
                                               const Frame& frame, double* local) {
  Terms terms, sum;
  AllTerms multipoles, functions;
  clear(degree, sum);
  for (std::size_t first = 0; first < clusters.size(); first += lane_count) {
    Lanes x[3], inverse, ratio;
    set_lanes(1, x[0]);
    set_lanes(0, x[1]);
    set_lanes(0, x[2]);
    set_lanes(0, inverse);
    clear(degree, terms);
    for (std::size_t k = 0; k < lane_count && first + k < clusters.size(); ++k) {
      const Expansion& e = clusters[first + k];
      double d[3], square = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        d[c] = (frame.centre[c] - e.frame.centre[c]) / frame.radius;
        square += d[c] * d[c];
      }
      inverse[k] = 1 / std::sqrt(square);
      for (std::size_t c = 0; c < 3; ++c) x[c][k] = d[c] * inverse[k];
      load_lane(std::min(degree, multipole_degree), e.numbers,
                e.frame.radius / frame.radius * inverse[k], k, terms);
    }
    expand<true>(degree, terms, multipoles);
    make_irregular(degree, x, terms);
    expand<false>(degree, terms, functions);
    ratio = inverse / frame.radius;
    for (std::size_t k = 0, t = 0; k <= degree; ++k) {
      for (std::size_t l = 0; l <= k; ++l, ++t) {
        ComplexLanes f;
        contract(degree, multipoles, functions, k, l, f);
        sum[t].re += ratio * f.re;
        sum[t].im += ratio * f.im;
      }
      ratio *= -inverse;
    }
  }
  for (std::size_t t = 0; t < place(degree + 1, 0); ++t) {
    local[2 * t] += sum_of(sum[t].re);
    local[2 * t + 1] += sum_of(sum[t].im);
  }
}

GDR_FOR_EACH_ISA void add_local(unsigned from_degree, const Expansion& from, unsigned degree,
                                const Frame& frame, double* local) {
  Terms terms;
  AllTerms r, f;
  Lanes x[3];
  for (std::size_t c = 0; c < 3; ++c)
    set_lanes((frame.centre[c] - from.frame.centre[c]) / from.frame.radius, x[c]);
  make_regular(from_degree, x, terms);
  expand<true>(from_degree, terms, r);
  clear(from_degree, terms);
  load_lane(from_degree, from.numbers, 1, 0, terms);
  expand<false>(from_degree, terms, f);
  double power = 1;
  for (std::size_t k = 0, t = 0; k <= std::min(degree, from_degree);
       ++k, power *= frame.radius / from.frame.radius)
    for (std::size_t l = 0; l <= k; ++l, ++t) {
      ComplexLanes sum;
      contract(from_degree, r, f, k, l, sum);
      local[2 * t] += sum.re[0] * power;
      local[2 * t + 1] += sum.im[0] * power;
    }
}

void add_linear_field(const FieldPoint& field, const Frame& frame, double* local) {
  local[0] += field.potential;
  local[2 * place(1, 0)] += frame.radius * field.z;
  local[2 * place(1, 1)] += frame.radius * field.x;
  local[2 * place(1, 1) + 1] += frame.radius * field.y;
}

GDR_FOR_EACH_ISA void evaluate_local(unsigned degree, const Expansion& local,
                                     const ParticleArrays& particles, FieldPoint* fields) {
  Terms terms;
  AllTerms r, f;
  for (std::size_t k = 0; k < lane_count; ++k) load_lane(degree, local.numbers, 1, k, terms);
  expand<false>(degree, terms, f);
  for (std::size_t first = 0; first < particles.n; first += lane_count) {
    Lanes x[3];
    load_points(particles, first, local.frame, x);
    make_regular(degree, x, terms);
    expand<true>(degree, terms, r);
    ComplexLanes potential, along, across;
    contract(degree, r, f, 0, 0, potential);
    contract(degree, r, f, 1, 0, along);
    contract(degree, r, f, 1, 1, across);
    for (std::size_t k = 0; k < lane_count && first + k < particles.n; ++k)
      fields[first + k] = {potential.re[k], across.re[k] / local.frame.radius,
                           across.im[k] / local.frame.radius, along.re[k] / local.frame.radius};
  }
}

}  // namespace gdr::tree
