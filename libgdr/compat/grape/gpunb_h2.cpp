// libgpunb: the interface of NBODY6 until 2012, whose radii are those of spheres.
#pragma GCC visibility push(default)
#include "libgdr/compat/grape/gpunb.h"
#pragma GCC visibility pop

#include "libgdr/compat/grape/gpunb.hpp"

using namespace gdr::compat::grape;

extern "C" {

int gpunb_open_(int* /*nbmax*/) { return open_regular(); }

int gpunb_close_(void) { return close_regular(); }

int gpunb_send_(int* nj, double* mj, double (*xj)[3], double (*vj)[3]) {
  return send_regular(nj, mj, xj, vj);
}

int gpunb_regf_(int* ni, double* h2, double* dtr, double (*xi)[3], double (*vi)[3],
                double (*acc)[3], double (*jrk)[3], double* pot, int* lmax, int* nbmax, int* list) {
  return run_regular(
      {.h2 = h2, .dt = dtr, .x = xi, .v = vi, .acc = acc, .jerk = jrk, .pot = pot, .list = list},
      ni, lmax, nbmax);
}

int gpupot_(int* n, double* m, double (*x)[3], double* pot) { return run_potentials(n, m, x, pot); }

}  // extern "C"
