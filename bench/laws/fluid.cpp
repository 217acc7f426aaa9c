// Pair laws of SPH, and the sum of Gaussians.
#include <cmath>

#include "bench/laws/laws.hpp"

namespace gdr::bench {
namespace {

constexpr Real pi = 3.141592653589793238462643383279503L;

/// The cubic spline and its derivative by r, as tables of the literature give it.
struct Spline {
  Real value = 0, slope = 0;
};
Spline cubic_spline(Real r, Real h) {
  const Real q = r / h, unit = 1 / (pi * h * h * h);
  if (q < 1)
    return {unit * (1 - 1.5L * q * q + 0.75L * q * q * q), unit / h * (-3 * q + 2.25L * q * q)};
  if (q < 2)
    return {unit * 0.25L * (2 - q) * (2 - q) * (2 - q), unit / h * -0.75L * (2 - q) * (2 - q)};
  return {};
}

// i: x y z h;  j: x y z m h;  f: density, count
void density(const Real* i, const Real* j, const Real*, Real* f) {
  const Vec d = Vec::at(i) - Vec::at(j);
  const Real r = std::sqrt(dot(d, d)), h = (i[3] + j[4]) / 2;
  f[0] += j[3] * cubic_spline(r, h).value;
  if (r < 2 * h) f[1] += 1;
}

// i: x y z v h c rho p/rho^2;  j: x y z m v h c rho p/rho^2;  c: alpha beta eta;
// f: acc, du/dt, largest mu
void force(const Real* i, const Real* j, const Real* c, Real* f) {
  const Vec d = Vec::at(i) - Vec::at(j), v = Vec::at(i + 3) - Vec::at(j + 4);
  const Real r2 = dot(d, d), r = std::sqrt(r2), h = (i[6] + j[7]) / 2;
  if (r2 == 0 || r >= 2 * h) return;
  const Real sound = (i[7] + j[8]) / 2, rho = (i[8] + j[9]) / 2;
  const Real approach = dot(v, d);
  const Real mu = approach < 0 ? h * approach / (r2 + c[2] * h * h) : 0;
  const Real viscosity = (-c[0] * sound * mu + c[1] * mu * mu) / rho;
  const Vec gradient = cubic_spline(r, h).slope / r * d;
  (-j[3] * (i[9] + j[10] + viscosity) * gradient).add_to(f);
  f[3] += j[3] * (i[9] + viscosity / 2) * dot(v, gradient);
  f[4] = std::max(f[4], -mu);
}

// i: x y z;  j: x y z q;  c: gamma
void gauss(const Real* i, const Real* j, const Real* c, Real* f) {
  const Vec d = Vec::at(i) - Vec::at(j);
  f[0] += j[3] * std::exp(-c[0] * dot(d, d));
}

}  // namespace

std::vector<Law> fluid_laws() {
  return {
      {"sph_density", {}, {{"density", 0, 1}, {"neighbours", 1, 1}}, crystal, density},
      {"sph_force",
       {{"alpha", 1}, {"beta", 2}, {"eta", 0.01}},
       {{"acceleration", 0, 3}, {"energy rate", 3, 1}, {"largest mu", 4, 1}},
       crystal,
       force},
      {"gauss_sum", {{"gamma", 0.7}}, {{"sum", 0, 1}}, crystal, gauss, 2e-7, 1e-7},
  };
}

}  // namespace gdr::bench
