// libgpunb_nbody6pp: the interface of NBODY6++GPU.
#pragma GCC visibility push(default)
#include "libgdr/compat/grape/gpunb_nbody6pp.h"
#pragma GCC visibility pop

#include <string>

#include "gdr/error.hpp"
#include "libgdr/compat/grape/calls.hpp"
#include "libgdr/compat/grape/gpunb.hpp"

using namespace gdr::compat::grape;

extern "C" {

int gpunb_devinit_(int* /*irank*/) { return open_regular(); }

int gpunb_open_(int* /*nbmax*/, int* /*irank*/) { return open_regular(); }

int gpunb_close_(void) { return close_regular(); }

int gpunb_profile_(int* /*irank*/) { return 0; }

int gpunb_send_(int* nj, double* mj, double (*xj)[3], double (*vj)[3]) {
  return send_regular(nj, mj, xj, vj);
}

int gpunb_regf_(int* ni, double* h2, double* dtr, double (*xi)[3], double (*vi)[3],
                double (*acc)[3], double (*jrk)[3], double* pot, int* lmax, int* nnbmax, int* list,
                int* m_flag) {
  return guarded("gpunb_regf", -1, [&] {
    return run_regular({.h2 = h2,
                        .dt = dtr,
                        .x = xi,
                        .v = vi,
                        .acc = acc,
                        .jerk = jrk,
                        .pot = pot,
                        .list = list,
                        .by_mass = argument(m_flag, "m_flag") != 0,
                        .counts_overflow = true},
                       ni, lmax, nnbmax);
  });
}

int gpupot_(int* /*irank*/, int* istart, int* ni, int* n, double* m, double (*x)[3], double* pot) {
  return guarded("gpupot", -1, [&] {
    const std::size_t all = checked_count(argument(n, "n"), "particles");
    const std::size_t count = checked_count(argument(ni, "ni"), "i-particles");
    const std::size_t first = checked_count(argument(istart, "istart"), "the first i-particle");
    if (first == 0 || first - 1 > all || count > all - (first - 1))
      throw gdr::Error(gdr::ErrorCategory::Usage,
                       std::to_string(count) + " i-particles from number " + std::to_string(first) +
                           " on are not all among the " + std::to_string(all) + " particles");
    return run_potentials({all, first - 1, count, m, x, pot});
  });
}

}  // extern "C"
