// Pair laws of molecules and charges.
#include <cmath>

#include "bench/laws/laws.hpp"

namespace gdr::bench {
namespace {

constexpr Real root_pi = 1.772453850905516027298167483341L;

/// Adds force and energy of a pair from u(r) and its derivative; d points from the source.
void add_pair(Vec d, Real r, Real u, Real slope, Real* f) {
  (-slope / r * d).add_to(f);
  f[3] += u;
}

/// u and u' of Lennard-Jones, the virial beside them.
void lennard_jones_pair(Vec d, Real r2, Real sigma, Real epsilon, Real* f) {
  const Real r = std::sqrt(r2), s6 = std::pow(sigma / r, 6.0L);
  const Real slope = 24 * epsilon * (s6 - 2 * s6 * s6) / r;
  add_pair(d, r, 4 * epsilon * (s6 * s6 - s6), slope, f);
  f[4] -= r * slope;
}

void lennard_jones(const Real* i, const Real* j, const Real* c, Real* f) {
  const Vec d = Vec::at(i) - Vec::at(j);
  const Real r2 = dot(d, d);
  if (r2 != 0 && r2 < c[0]) lennard_jones_pair(d, r2, 1, 1, f);
}

// i, j: x y z sigma, root of epsilon
void lennard_jones_mixed(const Real* i, const Real* j, const Real* c, Real* f) {
  const Vec d = Vec::at(i) - Vec::at(j);
  const Real r2 = dot(d, d);
  if (r2 != 0 && r2 < c[0]) lennard_jones_pair(d, r2, (i[3] + j[3]) / 2, i[4] * j[4], f);
}

// i: x y z id;  j: x y z q id
void coulomb(const Real* i, const Real* j, const Real*, Real* f) {
  const Vec d = Vec::at(i) - Vec::at(j);
  const Real r2 = dot(d, d), r = std::sqrt(r2);
  if (r2 != 0 && i[3] != j[4]) add_pair(d, r, j[3] / r, -j[3] / r2, f);
}

// i: x y z;  j: x y z q;  c: alpha, cut-off^2
void ewald(const Real* i, const Real* j, const Real* c, Real* f) {
  const Vec d = Vec::at(i) - Vec::at(j);
  const Real r2 = dot(d, d), r = std::sqrt(r2), x = c[0] * r;
  if (r2 == 0 || r2 >= c[1]) return;
  const Real u = std::erfc(x) / r;
  add_pair(d, r, j[3] * u, -j[3] * (u / r + 2 * c[0] / root_pi * std::exp(-x * x) / r), f);
}

// c: depth, steepness, r0, cut-off^2
void morse(const Real* i, const Real* j, const Real* c, Real* f) {
  const Vec d = Vec::at(i) - Vec::at(j);
  const Real r2 = dot(d, d), r = std::sqrt(r2);
  if (r2 == 0 || r2 >= c[3]) return;
  const Real e = std::exp(-c[1] * (r - c[2]));
  add_pair(d, r, c[0] * (e * e - 2 * e), 2 * c[0] * c[1] * (e - e * e), f);
}

// c: a, b, c, cut-off^2
void buckingham(const Real* i, const Real* j, const Real* c, Real* f) {
  const Vec d = Vec::at(i) - Vec::at(j);
  const Real r2 = dot(d, d), r = std::sqrt(r2), r6 = r2 * r2 * r2;
  if (r2 == 0 || r2 >= c[3]) return;
  const Real wall = c[0] * std::exp(-c[1] * r);
  add_pair(d, r, wall - c[2] / r6, -c[1] * wall + 6 * c[2] / (r6 * r), f);
}

}  // namespace

std::vector<Law> molecular_laws() {
  const Quantity force{"force", 0, 3}, energy{"energy", 3, 1}, virial{"virial", 4, 1};
  const Quantity field{"field", 0, 3}, potential{"potential", 3, 1};
  const std::pair<std::string_view, double> rc2{"rc2", 6.25};
  return {
      {"lennard_jones", {rc2}, {force, energy, virial}, crystal, lennard_jones, 6e-7, 4e-7},
      {"lennard_jones_mixed",
       {rc2},
       {force, energy, virial},
       crystal,
       lennard_jones_mixed,
       6e-7,
       4e-7},
      {"coulomb", {}, {field, potential}, crystal, coulomb},
      {"coulomb_ewald", {{"alpha", 1.2}, rc2}, {field, potential}, crystal, ewald, 4e-7, 2e-7},
      {"morse",
       {{"depth", 0.8}, {"steep", 5.5}, {"r0", 1.12}, rc2},
       {force, energy},
       crystal,
       morse,
       1e-6,
       4e-7},
      {"buckingham",
       {{"a", 1600}, {"b", 6.5}, {"c", 1.5}, rc2},
       {force, energy},
       crystal,
       buckingham,
       2e-6,
       4e-7},
  };
}

}  // namespace gdr::bench
