/* The generated headers of the library's kernels in one program: two stars on a circular orbit with
 * gravity_jerk, and a pair of Lennard-Jones particles at the minimum of the potential. */
#include <math.h>

#include "all_kernels.h"
#include "check.h"

static int near(double found, double right) {
  return fabs(found - right) < 1e-6 * (1 + fabs(right));
}

static void two_stars(void) {
  struct gravity_jerk_grape_j_particle_struct j[2] = {{0}};
  struct gravity_jerk_grape_i_particle_struct i[2] = {{0}};
  struct gravity_jerk_grape_result_struct f[2];
  for (int k = 0; k < 2; ++k) {
    const double side = k == 0 ? 1 : -1;
    i[k].xi = j[k].xj = side;
    i[k].vyi = j[k].vyj = 0.5 * side;
    i[k].idi = j[k].idj = k;
    j[k].mj = 1;
  }
  CHECK(gravity_jerk_grape_init() == 0);
  CHECK(gravity_jerk_grape_set_eps2(0) == 0);
  CHECK(gravity_jerk_send_j_particles(j, 0, 2) == 0);
  CHECK(gravity_jerk_send_i_particles(i, 2) == 0);
  CHECK(gravity_jerk_grape_run(2) == 0);
  CHECK(gravity_jerk_get_result(f, 2) == 0);
  /* Accelerations of 1/4 towards each other; on a circle the jerk is the acceleration times speed
   * over radius, opposite to the velocity (along y). */
  CHECK(near(f[0].ax, -0.25) && near(f[1].ax, 0.25));
  CHECK(near(f[0].jy, -0.125) && near(f[1].jy, 0.125));
  CHECK(near(f[0].jx, 0) && near(f[0].pot, -0.5));
  gravity_jerk_grape_close();
}

static void argon(void) {
  struct lennard_jones_grape_j_particle_struct j[2] = {{0}};
  struct lennard_jones_grape_i_particle_struct i[2] = {{0}};
  struct lennard_jones_grape_result_struct f[2];
  i[1].xi = j[1].xj = pow(2, 1.0 / 6);
  CHECK(lennard_jones_grape_init() == 0);
  CHECK(lennard_jones_grape_set_rc2(6.25) == 0);
  CHECK(lennard_jones_send_j_particles(j, 0, 2) == 0);
  CHECK(lennard_jones_send_i_particles(i, 2) == 0);
  CHECK(lennard_jones_grape_run(2) == 0);
  CHECK(lennard_jones_get_result(f, 2) == 0);
  CHECK(near(f[0].u, -1) && near(f[1].u, -1) && fabs(f[0].fx) < 1e-5);
  lennard_jones_grape_close();
}

int main(void) {
  two_stars();
  argon();
  return failures;
}
