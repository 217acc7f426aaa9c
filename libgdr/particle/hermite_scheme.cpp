#include "libgdr/particle/hermite_scheme.hpp"

#include <cmath>

namespace gdr {
namespace {

using Vector = std::array<double, 3>;

double magnitude(const Vector& v) noexcept {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/// One coordinate of all particles.
void predict_coordinate(std::size_t n, const double* dt, const double* x, const double* v,
                        const double* a, const double* j, double* xp, double* vp) noexcept {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const double t = dt[i], half = t * (1.0 / 2), third = t * (1.0 / 3);
    xp[i] = x[i] + t * (v[i] + half * (a[i] + third * j[i]));
    vp[i] = v[i] + t * (a[i] + half * j[i]);
  }
}

}  // namespace

Components separate_triples(std::size_t n, const double* triples) {
  Components result = make_components(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < 3; ++k) result[k][i] = triples[3 * i + k];
  return result;
}

void join_triples(const Components& from, double* triples) {
  for (std::size_t i = 0; i < from[0].size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) triples[3 * i + k] = from[k][i];
}

void predict_particles(const HermiteParticles& particles, double now, double cycle,
                       std::vector<double>& dt, Components& x, Components& v) {
  const std::size_t n = particles.size();
  const double* const time = particles.time.data();
  double* const t = dt.data();
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) t[i] = (now - time[i]) * cycle;
  for (std::size_t k = 0; k < 3; ++k)
    predict_coordinate(n, t, particles.x[k].data(), particles.v[k].data(), particles.a[k].data(),
                       particles.j[k].data(), x[k].data(), v[k].data());
}

Corrected correct_particle(double dt, double eta, const TermSizes& rounding, const Vector& xp,
                           const Vector& vp, const Vector& a0, const Vector& j0, const Vector& a1,
                           const Vector& j1) noexcept {
  Corrected result{};
  Vector snap{}, crackle{};
  const double inverse = 1 / dt, inverse2 = inverse * inverse;
  for (std::size_t k = 0; k < 3; ++k) {
    // The second and third derivative at the beginning of the step, times dt^2 and dt^3, by Hermite
    // interpolation (Makino & Aarseth 1992, equations 2 to 5).
    const double difference = a0[k] - a1[k];
    const double s = -6 * difference - dt * (4 * j0[k] + 2 * j1[k]);
    const double c = 12 * difference + 6 * dt * (j0[k] + j1[k]);
    result.x[k] = xp[k] + dt * dt * (s * (1.0 / 24) + c * (1.0 / 120));
    result.v[k] = vp[k] + dt * (s * (1.0 / 6) + c * (1.0 / 24));
    snap[k] = (s + c) * inverse2;
    crackle[k] = c * inverse2 * inverse;
  }
  // Errors of the interpolation above, from those of both ends of the step.
  const double error = 2 * rounding.a + dt * rounding.j;
  result.criterion = aarseth_step(
      {magnitude(a1), magnitude(j1), magnitude(snap), magnitude(crackle)},
      {rounding.a, rounding.j, 6 * error * inverse2, 12 * error * inverse2 * inverse}, eta);
  return result;
}

}  // namespace gdr
