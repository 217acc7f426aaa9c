// A program with the class of Sapporo2 and get_j_part_data, compared with plain loops in doubles:
// two objects with particles of their own, predicted positions, softening of each i-particle, the
// nearest particle and its distance, neighbour lists, and invalid calls.
#include <sapporohostclass.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

const int n = 200;

struct Stars {
  std::vector<double> mass, time;
  std::vector<int> id;
  double (*x)[3], (*v)[3], (*a)[3], (*j)[3], (*s)[3];
};

double number() {  // 0 to 1, the same on every host
  static unsigned state = 12345;
  state = state * 1103515245u + 12345u;
  return (state >> 8) / 16777216.0;
}

double (*vectors())[3] {
  double(*made)[3] = new double[n][3];
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) made[i][k] = number() - 0.5;
  return made;
}

Stars stars() {
  Stars p;
  for (int i = 0; i < n; ++i) {
    p.mass.push_back(0.5 + number());
    p.time.push_back(0.1 * number());
    p.id.push_back(1000 - 3 * i);
  }
  p.x = vectors(), p.v = vectors(), p.a = vectors(), p.j = vectors(), p.s = vectors();
  return p;
}

/// Position or velocity of a star at a time.
void predict(const Stars& p, int i, double t, double x[3], double v[3]) {
  const double h = t - p.time[i];
  for (int k = 0; k < 3; ++k) {
    x[k] = p.x[i][k] + h * p.v[i][k] + h * h / 2 * p.a[i][k] + h * h * h / 6 * p.j[i][k] +
           h * h * h * h / 24 * p.s[i][k];
    v[k] = p.v[i][k] + h * p.a[i][k] + h * h / 2 * p.j[i][k] + h * h * h / 6 * p.s[i][k];
  }
}

int failures = 0;
void expect(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}
bool near(double got, double right, double size) { return std::fabs(got - right) <= 1e-11 * size; }

void set_all(sapporo& grav, Stars& p) {
  for (int i = 0; i < n; ++i) {
    double k18[3] = {p.s[i][0] / 18, p.s[i][1] / 18, p.s[i][2] / 18};
    expect(grav.set_j_particle(i, p.id[i], p.time[i], 0, p.mass[i], k18, p.j[i], p.a[i], p.v[i],
                               p.x[i], nullptr, nullptr, 0) == 0,
           "set_j_particle");
  }
}

void check(sapporo& grav, Stars& p, double t, bool each) {
  std::vector<double> eps2(n), h2(n, 0.02), pot(n), distance(n);
  std::vector<int> nearest(n);
  for (int i = 0; i < n; ++i) eps2[i] = each ? 1e-3 * (1 + i) : 1e-3;
  double(*acc)[3] = vectors();
  double(*jerk)[3] = vectors();
  double(*xi)[3] = new double[n][3];
  double(*vi)[3] = new double[n][3];
  for (int i = 0; i < n; ++i) predict(p, i, t, xi[i], vi[i]);
  expect(grav.set_time(t) == 0, "set_time");
  grav.startGravCalc(n, n, p.id.data(), xi, vi, nullptr, nullptr, nullptr, 1e-3, h2.data(),
                     each ? eps2.data() : nullptr);
  expect(grav.getGravResults(n, n, p.id.data(), xi, vi, 1e-3, h2.data(), acc, jerk, nullptr,
                             nullptr, pot.data(), nearest.data(), distance.data(), true) == 0,
         "getGravResults");
  expect(grav.read_ngb_list(0) == 0, "read_ngb_list");
  for (int i = 0; i < n; ++i) {
    double a[3] = {0, 0, 0}, j[3] = {0, 0, 0}, phi = 0, least = HUGE_VAL;
    int at = -1;
    std::vector<int> list;
    for (int k = 0; k < n; ++k) {
      if (k == i) continue;
      double r2 = 0, rv = 0, d[3], w[3];
      for (int c = 0; c < 3; ++c) {
        d[c] = xi[k][c] - xi[i][c];
        w[c] = vi[k][c] - vi[i][c];
        r2 += d[c] * d[c];
        rv += d[c] * w[c];
      }
      if (r2 < least) least = r2, at = p.id[k];
      if (r2 < h2[i]) list.push_back(p.id[k]);
      r2 += eps2[i];
      const double f = p.mass[k] / (r2 * std::sqrt(r2));
      for (int c = 0; c < 3; ++c) {
        a[c] += f * d[c];
        j[c] += f * (w[c] - 3 * rv / r2 * d[c]);
      }
      phi -= p.mass[k] / std::sqrt(r2);
    }
    for (int c = 0; c < 3; ++c) {
      expect(near(acc[i][c], a[c], 1e3), "acceleration");
      expect(near(jerk[i][c], j[c], 1e4), "jerk");
    }
    expect(near(pot[i], phi, 1e3), "potential");
    expect(nearest[i] == at && near(distance[i], least, 1), "nearest particle");
    std::vector<int> found(n);
    int length = -1;
    expect(grav.get_ngb_list(0, i, n, length, found.data()) == 0, "get_ngb_list");
    found.resize(static_cast<std::size_t>(std::max(length, 0)));
    std::sort(list.begin(), list.end());
    expect(found == list, "neighbour list");
  }
}

// The distance is that of the nearest of several particles with one id, and of those that are
// summed.
void check_equal_ids() {
  sapporo grav;
  double rest[3] = {0, 0, 0}, places[3][3] = {{0, 0, 2}, {0, 0, 50}, {0, 0, 1}},
         at[1][3] = {{0, 0, 0}};
  int nobody[] = {-1}, nearest[1];
  double pot[1], distance[1];
  grav.open("", nullptr);
  for (int k = 0; k < 3; ++k)
    grav.set_j_particle(k, 7, 0, 0, 1, rest, rest, rest, rest, places[k], nullptr, nullptr, 0);
  for (int nj = 1; nj <= 3; ++nj) {
    grav.startGravCalc(nj, 1, nobody, at, nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr);
    expect(grav.getGravResults(nj, 1, nobody, at, nullptr, 0, nullptr, nullptr, nullptr, nullptr,
                               nullptr, pot, nearest, distance, true) == 0,
           "equal ids");
    expect(nearest[0] == 7 && near(distance[0], nj == 3 ? 1 : 4, 1), "distance with equal ids");
  }
  // A particle with another id at its address, and its id at another place.
  grav.set_j_particle(2, 8, 0, 0, 1, rest, rest, rest, rest, places[1], nullptr, nullptr, 0);
  grav.startGravCalc(3, 1, nobody, at, nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr);
  grav.getGravResults(3, 1, nobody, at, nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr,
                      pot, nearest, distance, true);
  expect(nearest[0] == 7 && near(distance[0], 4, 1), "distance after another id was set");

  expect(grav.set_j_particle(0, 7, 0, 0, 1, rest, rest, rest, rest, places[0], nullptr, nullptr,
                             NAN) == -1,
         "a softening that is no number is refused");
  grav.startGravCalc(3, 1, nobody, at, nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr);
  expect(grav.getGravResults(3, 1, nobody, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr,
                             nullptr, pot, nearest, distance, true) == -1,
         "distances from no places are refused");
}

void check_state(sapporo& grav, Stars& p, double t) {
  double mass, id, eps, x[3], v[3], a[3], j[3], px[3], pv[3], pa[3], qx[3], qv[3];
  grav.retrieve_j_particle_state(17, mass, id, eps, x, v, a, j, px, pv, pa);
  predict(p, 17, t, qx, qv);
  expect(mass == p.mass[17] && id == p.id[17] && eps == 0, "state: mass and id");
  for (int k = 0; k < 3; ++k) {
    expect(x[k] == p.x[17][k] && v[k] == p.v[17][k] && a[k] == p.a[17][k] && pa[k] == a[k] &&
               near(j[k], p.j[17][k], 1),
           "state");
    expect(near(px[k], qx[k], 1) && near(pv[k], qv[k], 1), "predicted state");
  }
  double rx[3], rv[3], ra[3];
  grav.retrieve_predicted_j_particle(17, mass, id, eps, rx, rv, ra);
  expect(rx[0] == px[0] && rv[1] == pv[1] && ra[2] == a[2], "retrieve_predicted_j_particle");
  grav.retrieve_j_particle_state(5000, mass, id, eps, x, v, a, j, px, pv, nullptr);
  expect(mass == 0 && id == -1, "state of no particle");
}

}  // namespace

int main() {
  Stars p = stars(), q = stars();
  sapporo first, second;
  int devices[] = {0};
  expect(first.open("CUDA/kernels4th.ptx", devices, 1, FOURTH, DOUBLE) == 0, "open");
  expect(second.open(std::string(), devices) == 0, "open");
  sapporo third;
  expect(third.open("", devices, 1, SIXTH) == -1, "the sixth order is refused");
  expect(first.get_n_pipes() > 0, "get_n_pipes");
  set_all(first, p);
  set_all(second, q);
  check(first, p, 0.125, false);
  check(second, q, 0.25, true);
  check(first, p, 0.15, true);
  check_state(first, p, 0.15);
  check_equal_ids();

  // Particles that are not predicted stay where they are.
  third.open("", devices, 1, GRAPE5);
  third.set_no_time();
  set_all(third, p);
  double mass, id, eps, x[3], v[3], a[3], acc[1][3], pot[1], at[1][3] = {{2, 0, 0}}, right = 0;
  third.retrieve_predicted_j_particle(3, mass, id, eps, x, v, a);
  expect(x[0] == p.x[3][0] && v[2] == p.v[3][2], "set_no_time");
  third.startGravCalc(n, 1, nullptr, at, nullptr, nullptr, nullptr, nullptr, 0.5, nullptr, nullptr);
  expect(third.getGravResults(n, 1, nullptr, at, nullptr, 0.5, nullptr, acc, nullptr, nullptr,
                              nullptr, pot, nullptr, nullptr, false) == 0,
         "a calculation without ids and velocities");
  for (int i = 0; i < n; ++i) {
    double r2 = 0.5;
    for (int k = 0; k < 3; ++k) r2 += (p.x[i][k] - at[0][k]) * (p.x[i][k] - at[0][k]);
    right -= p.mass[i] / std::sqrt(r2);
  }
  expect(near(pot[0], right, 1e3), "potential at a place");

  // The functions for cluster 0, which no object has.
  double zero[3] = {0, 0, 0}, y[3] = {1, 2, 3}, w[3] = {1, 0, 0}, jrk[3], px[3], pv[3], eps2;
  int index;
  g6_open(0);
  expect(g6_set_j_particle(0, 4, 44, 0, 0, 2.5, zero, zero, zero, w, y) == 0, "g6_set_j_particle");
  g6_set_ti(0, 0.5);
  get_j_part_data(4, 5, x, v, a, jrk, px, pv, mass, eps2, index);
  expect(mass == 2.5 && index == 44 && eps2 == 0 && x[2] == 3 && px[0] == 1.5 && pv[0] == 1,
         "get_j_part_data");
  expect(get_j_part_data(4, 5, x, v, a, jrk, px, pv) == 0 && px[1] == 2, "its form of Sapporo");
  expect(get_j_part_data(3, 5, x, v, a, jrk, px, pv) == -1, "a particle that was never set");
  get_j_part_data(-1, 5, x, v, a, jrk, px, pv, mass, eps2, index);
  expect(mass == 0 && index == -1, "an address that does not exist");
  g6_close(0);
  expect(first.close() == 0, "close");
  if (failures > 0) std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
