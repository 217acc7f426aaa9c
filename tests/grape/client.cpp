// A client that defines C forms of its own on top of the Fortran ones, some with other argument
// types, as a code for several implementations of the interface does.
#include <cmath>
#include <cstdio>

extern "C" {
int g6_open_(int* id);
int g6_close_(int* id);
int g6_set_tunit_(double* unit);
int g6_set_ti_(int* id, double* ti);
int g6_set_j_particle_(int* id, int* address, int* index, double* tj, double* dtj, double* mass,
                       double k18[3], double j6[3], double a2[3], double v[3], double x[3]);
void g6calc_firsthalf_(int* id, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                       double aold[][3], double j6old[][3], double phiold[], double* eps2,
                       double h2[]);
int g6calc_lasthalf_(int* id, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                     double* eps2, double h2[], double acc[][3], double jerk[][3], double pot[]);

static int own_calls;
int g6_open(int id) {
  ++own_calls;
  return g6_open_(&id);
}
int g6_set_tunit(double unit) {
  ++own_calls;
  return g6_set_tunit_(&unit);
}
int g6_set_ti(int id, double ti) {
  ++own_calls;
  return g6_set_ti_(&id, &ti);
}
int g6_set_j_particle(int id, int address, int index, double tj, double dtj, double mass,
                      double k18[3], double j6[3], double a2[3], double v[3], double x[3]) {
  ++own_calls;
  return g6_set_j_particle_(&id, &address, &index, &tj, &dtj, &mass, k18, j6, a2, v, x);
}
}

int main() {
  double zero[3] = {0, 0, 0}, x[2][3] = {{0, 0, 0}, {2, 0, 0}}, v[2][3] = {{0, 0, 0}, {0, 1, 0}};
  double acc[2][3], jerk[2][3], pot[2], h2[2] = {0, 0}, eps2 = 0;
  int id = 3, nj = 2, ni = 2, index[2] = {10, 20};
  if (g6_open(id) != 0 || g6_set_tunit(51.0) != 0) return 1;
  for (int k = 0; k < 2; ++k)
    if (g6_set_j_particle(id, k, index[k], 0, 0.1, 1, zero, zero, zero, v[k], x[k]) != 0) return 2;
  g6_set_ti(id, 0);
  g6calc_firsthalf_(&id, &nj, &ni, index, x, v, acc, jerk, pot, &eps2, h2);
  if (g6calc_lasthalf_(&id, &nj, &ni, index, x, v, &eps2, h2, acc, jerk, pot) != 0) return 3;
  // Each of mass 1 at distance 2: acceleration 1/4, potential -1/2, jerk v / 8.
  const bool right = std::fabs(acc[0][0] - 0.25) < 1e-15 && std::fabs(acc[1][0] + 0.25) < 1e-15 &&
                     std::fabs(pot[0] + 0.5) < 1e-15 && std::fabs(jerk[0][1] - 0.125) < 1e-15;
  if (!right) std::printf("%g %g %g %g\n", acc[0][0], acc[1][0], pot[0], jerk[0][1]);
  g6_close_(&id);
  return right && own_calls == 5 ? 0 : 4;
}
