// Pair laws of the gravity kernels.
#include <cmath>

#include "bench/laws/laws.hpp"

namespace gdr::bench {
namespace {

/// r^2 with softening, and whether the pair is included.
struct Pair {
  Vec d;
  Real r2;
  bool counts;
};
Pair pair_of(const Real* i, const Real* j, Real eps2, Real id_i, Real id_j) {
  const Vec d = Vec::at(j) - Vec::at(i);
  const Real r2 = dot(d, d) + eps2;
  return {d, r2, id_i != id_j && r2 != 0};
}

// i: x y z id;  j: x y z m id;  f: acc pot
void plain(const Real* i, const Real* j, const Real* c, Real* f) {
  const Pair p = pair_of(i, j, c[0], i[3], j[4]);
  if (!p.counts) return;
  const Real r = std::sqrt(p.r2);
  (j[3] / (p.r2 * r) * p.d).add_to(f);
  f[3] -= j[3] / r;
}

/// Acceleration, jerk and potential of one pair.
void hermite(const Pair& p, Real m, Vec v, Real* f) {
  const Real r = std::sqrt(p.r2), r3 = p.r2 * r;
  const Vec acc = m / r3 * p.d;
  acc.add_to(f);
  (m / r3 * v - 3 * dot(p.d, v) / p.r2 * acc).add_to(f + 3);
}

// i: x y z v id;  j: x y z m v id;  f: acc jerk pot
void jerk(const Real* i, const Real* j, const Real* c, Real* f) {
  const Pair p = pair_of(i, j, c[0], i[6], j[7]);
  if (!p.counts) return;
  hermite(p, j[3], Vec::at(j + 4) - Vec::at(i + 3), f);
  f[6] -= j[3] / std::sqrt(p.r2);
}

// i: x y z v id;  j: x y z m v id t a2 j6 s18, moved to the time c[1];  f: acc jerk pot
void moving(const Real* i, const Real* j, const Real* c, Real* f) {
  const Real dt = c[1] - j[8];
  Real at[8];
  for (int k = 0; k < 3; ++k) {
    // Derivatives from the coefficients.
    const Real v = j[4 + k], a = 2 * j[9 + k], b = 6 * j[12 + k], s = 18 * j[15 + k];
    at[k] = j[k] + v * dt + a * dt * dt / 2 + b * dt * dt * dt / 6 + s * dt * dt * dt * dt / 24;
    at[4 + k] = v + a * dt + b * dt * dt / 2 + s * dt * dt * dt / 6;
  }
  at[3] = j[3];
  at[7] = j[7];
  jerk(i, at, c, f);
}

// i: x y z v radius^2 id;  j as above;  f: acc jerk pot, nearest, count
void nearest(const Real* i, const Real* j, const Real* c, Real* f) {
  const Pair p = pair_of(i, j, c[0], i[7], j[7]);
  if (!p.counts) return;
  hermite(p, j[3], Vec::at(j + 4) - Vec::at(i + 3), f);
  f[6] -= j[3] / std::sqrt(p.r2);
  f[7] = std::min(f[7], p.r2);
  if (p.r2 < i[6]) f[8] += 1;
}

/// Appends to a list: its number of entries, then the first ones.
void append(Real entry, int capacity, Real* list) {
  const int count = static_cast<int>(list[0]);
  if (count < capacity) list[1 + count] = entry;
  list[0] += 1;
}

// As `nearest`, but f: acc jerk pot, nearest with its id, count, the first 128 ids
void neighbours(const Real* i, const Real* j, const Real* c, Real* f) {
  const Pair p = pair_of(i, j, c[0], i[7], j[7]);
  if (!p.counts) return;
  hermite(p, j[3], Vec::at(j + 4) - Vec::at(i + 3), f);
  f[6] -= j[3] / std::sqrt(p.r2);
  if (p.r2 < f[7]) {
    f[7] = p.r2;
    f[8] = j[7];
  }
  if (p.r2 < i[6]) append(j[7], 128, f + 9);
}

// i: x y z v e2 id;  j: x y z m v id;  f: acc jerk pot, nearest without softening and its id
void hermite_and_nearest(const Real* i, const Real* j, const Real* /*c*/, Real* f) {
  if (i[7] == j[7]) return;
  const Vec d = Vec::at(j) - Vec::at(i);
  const Real d2 = dot(d, d);
  if (d2 < f[7]) {
    f[7] = d2;
    f[8] = j[7];
  }
  const Pair p{d, d2 + i[6], true};
  hermite(p, j[3], Vec::at(j + 4) - Vec::at(i + 3), f);
  f[6] -= j[3] / std::sqrt(p.r2);
}

/// The pair is included, or only listed: at the same place without softening it has no force.
void hermite_and_list(const Real* i, const Real* j, Real e2, Real h2, Real* f, Real* list) {
  const Vec d = Vec::at(j) - Vec::at(i);
  if (dot(d, d) < h2) append(j[8], 200, list);
  const Pair p{d, dot(d, d) + e2, true};
  if (p.r2 == 0) return;
  hermite(p, j[3], Vec::at(j + 4) - Vec::at(i + 3), f);
  f[6] -= j[3] / std::sqrt(p.r2);
}

// i: x y z v h2 id;  j: x y z m v id slot;  f: acc jerk pot, count, the first 200 slots
void jerk_neighbours(const Real* i, const Real* j, const Real* c, Real* f) {
  if (i[7] != j[7]) hermite_and_list(i, j, c[0], i[6], f, f + 7);
}

// i: x y z v e2 h2 id;  j: as above;  f: acc jerk pot, nearest without softening and its id, count,
// the first 200 slots
void hermite_neighbours(const Real* i, const Real* j, const Real* /*c*/, Real* f) {
  if (i[8] == j[7]) return;
  const Vec d = Vec::at(j) - Vec::at(i);
  if (dot(d, d) < f[7]) {
    f[7] = dot(d, d);
    f[8] = j[7];
  }
  hermite_and_list(i, j, i[6], i[7], f, f + 9);
}

// i: x y z e2;  j: x y z m e2;  f: acc, positive pot
void softened(const Real* i, const Real* j, const Real* /*c*/, Real* f) {
  const Vec d = Vec::at(j) - Vec::at(i);
  const Real r2 = dot(d, d) + i[3] + j[4], r = std::sqrt(r2);
  (j[3] / (r2 * r) * d).add_to(f);
  f[3] += j[3] / r;
}

// i: x y z v h2 dt;  j: x y z m v id;  f: acc jerk, positive pot, count of neighbours, which are
// left out, the first 200 ids
void regular(const Real* i, const Real* j, const Real* /*c*/, Real* f) {
  const Vec d = Vec::at(j) - Vec::at(i), v = Vec::at(j + 4) - Vec::at(i + 3), later = d + i[7] * v;
  if (std::min(dot(d, d), dot(later, later)) < i[6]) {
    append(j[7], 200, f + 7);
    return;
  }
  hermite({d, dot(d, d), true}, j[3], v, f);
  f[6] += j[3] / std::sqrt(dot(d, d));
}

// i: x y z v a id;  j: x y z m v a id;  f: acc jerk snap pot. Written as the second derivative of
// m d r^-3 by the product rule, unlike the kernel.
void snap(const Real* i, const Real* j, const Real* c, Real* f) {
  const Pair p = pair_of(i, j, c[0], i[9], j[10]);
  if (!p.counts) return;
  const Vec v = Vec::at(j + 4) - Vec::at(i + 3), a = Vec::at(j + 7) - Vec::at(i + 6);
  hermite(p, j[3], v, f);
  const Real r = std::sqrt(p.r2), r3 = p.r2 * r, r5 = r3 * p.r2, r7 = r5 * p.r2;
  const Real rv = dot(p.d, v);
  const Real first = -3 * rv / r5;
  const Real second = -3 * (dot(v, v) + dot(p.d, a)) / r5 + 15 * rv * rv / r7;
  (j[3] / r3 * a + 2 * j[3] * first * v + j[3] * second * p.d).add_to(f + 6);
  f[9] -= j[3] / r;
}

// i: x y z v m id;  j: x y z m v id;  c: eps2 1/c^2;  f: acc, post-Newtonian part, pot. In the form
// of the review, with n from j to i.
void post_newtonian(const Real* i, const Real* j, const Real* c, Real* f) {
  const Pair p = pair_of(i, j, c[0], i[7], j[7]);
  if (!p.counts) return;
  const Real r = std::sqrt(p.r2), m1 = i[6], m2 = j[3];
  const Vec n = -1 / r * p.d, v1 = Vec::at(i + 3), v2 = Vec::at(j + 4);
  (-m2 / p.r2 * n).add_to(f);
  f[6] -= m2 / r;
  const Real along =
      5 * m1 * m2 / (p.r2 * r) + 4 * m2 * m2 / (p.r2 * r) +
      m2 / p.r2 *
          (1.5L * dot(n, v2) * dot(n, v2) - dot(v1, v1) + 4 * dot(v1, v2) - 2 * dot(v2, v2));
  const Real across = m2 / p.r2 * (4 * dot(n, v1) - 3 * dot(n, v2));
  (c[1] * (along * n + across * (v1 - v2))).add_to(f + 3);
}

}  // namespace

std::vector<Law> gravity_laws() {
  const Quantity acc{"acceleration", 0, 3}, jerks{"jerk", 3, 3};
  const std::vector<Quantity> two = {acc, {"potential", 3, 1}};
  const std::vector<Quantity> three = {acc, jerks, {"potential", 6, 1}};
  const std::pair<std::string_view, double> eps2{"eps2", 0x1p-12};
  return {
      {"gravity", {eps2}, two, cluster, plain},
      {"gravity_potential", {eps2}, two, cluster, plain},
      {"gravity_long", {eps2}, two, cluster, plain, 1e-13, 1e-13},
      {"gravity_jerk", {eps2}, three, cluster, jerk},
      {"gravity_jerk_long", {eps2}, three, cluster, jerk, 1e-13, 1e-13},
      {"gravity_jerk_moving", {eps2, {"time", 0.125}}, three, cluster, moving, 1e-13, 1e-13},
      {"gravity_nearest",
       {eps2},
       {acc, jerks, {"potential", 6, 1}, {"nearest distance^2", 7, 1}, {"neighbours", 8, 1}},
       cluster,
       nearest},
      {"gravity_neighbours",
       {eps2},
       {acc,
        jerks,
        {"potential", 6, 1},
        {"nearest distance^2", 7, 1},
        {"nearest", 8, 1},
        {"neighbours", 9, 1},
        {"their ids", 10, 128}},
       cluster,
       neighbours},
      {"gravity_hermite",
       {},
       {acc, jerks, {"potential", 6, 1}, {"nearest distance^2", 7, 1}, {"nearest", 8, 1}},
       cluster,
       hermite_and_nearest,
       2e-8,  // of the distance, which is a short; the sums are as in gravity_jerk_long
       2e-8},
      {"gravity_jerk_neighbours",
       {eps2},
       {acc, jerks, {"potential", 6, 1}, {"neighbours", 7, 1}, {"their slots", 8, 200}},
       cluster,
       jerk_neighbours,
       1e-13,
       1e-13},
      {"gravity_hermite_neighbours",
       {},
       {acc,
        jerks,
        {"potential", 6, 1},
        {"nearest distance^2", 7, 1},
        {"nearest", 8, 1},
        {"neighbours", 9, 1},
        {"their slots", 10, 200}},
       cluster,
       hermite_neighbours,
       2e-8,  // as gravity_hermite
       2e-8},
      {"gravity_softened", {}, two, cluster, softened},
      {"gravity_softened_long", {}, two, cluster, softened, 1e-13, 1e-13},
      {"gravity_regular",
       {},
       {acc, jerks, {"potential", 6, 1}, {"neighbours", 7, 1}, {"their ids", 8, 200}},
       cluster,
       regular,
       1e-13,
       1e-13},
      {"gravity_snap",
       {eps2},
       {acc, jerks, {"snap", 6, 3}, {"potential", 9, 1}},
       cluster,
       snap,
       3e-7},
      {"gravity_1pn",
       {eps2, {"cinv2", 1e-4}},
       {acc, {"post-Newtonian part", 3, 3}, {"potential", 6, 1}},
       cluster,
       post_newtonian},
  };
}

}  // namespace gdr::bench
