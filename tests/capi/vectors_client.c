/* A client of the C header of a kernel with vectors: members of three, and parameters by array. */
#include "check.h"
#include "vectors.h"

int main(void) {
  struct vectors_grape_j_particle_struct j[2] = {{{1, 2, 3}, {2, 4}}, {{-1, 0, 5}, {1, 8}}};
  struct vectors_grape_i_particle_struct i[1] = {{{1, 1, 1}, 7}};
  struct vectors_grape_result_struct result[1];
  const double axis[3] = {0, 0, 2}, scale[2] = {1, 10};
  CHECK(vectors_grape_init() == 0);
  CHECK(vectors_grape_set_axis(axis) == 0);
  CHECK(vectors_grape_set_scale(scale) == 0);
  CHECK(vectors_send_j_particle(&j[0], 0) == 0 && vectors_send_j_particle(&j[1], 1) == 0);
  CHECK(vectors_send_i_particles(i, 1) == 0);
  CHECK(vectors_grape_run(2) == 0);
  CHECK(vectors_get_result(result, 1) == 0);
  /* d is (0, 1, 2) and (-2, -1, 4); axis x d is (-2 y, 2 x, 0) */
  CHECK(result[0].torque[0] == -2 * 2 + 2 && result[0].torque[1] == -4);
  CHECK(result[0].torque[2] == 0);
  CHECK(result[0].inertia[0] == 32 && result[0].inertia[1] == 16); /* xx, xy */
  CHECK(result[0].inertia[4] == 4 * 2 - 8 * 4 && result[0].inertia[5] == 4 * 4 + 8 * 16);
  CHECK(result[0].moment[0] == 3 && result[0].moment[1] == 120);
  CHECK(result[0].pairs == 14);
  vectors_grape_close();
  printf("%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
