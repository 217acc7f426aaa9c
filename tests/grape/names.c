/* All headers and library names, in C99. */
#include <g5nbutil.h>
#include <g5util.h>
#include <g6lib.h>
#include <gp5util.h>
#include <gp6util.h>
#include <gpunb.h>
#include <grape6.h>
#include <math.h>
#include <stdio.h>

int main(void) {
  double x[2][3] = {{0, 0, 0}, {3, 4, 0}}, m[2] = {2, 10}, a[2][3], p[2], pot[2];
  int n = 2;
  if (g6_npipes() < 1 || get_device_count() < 1) return 1;
  g5_open();
  g5_set_eps_to_all(0);
  g5_set_n(2);
  g5_set_xmj(0, 2, x, m);
  g5_calculate_force_on_x(x, a, p, 2);
  g5_close();
  if (gpupot_(&n, m, x, pot) != 0) return 2;
  /* The other mass at distance 5. */
  if (fabs(p[0] - 2) > 1e-14 || fabs(pot[1] - 0.4) > 1e-14 || fabs(a[0][1] - 0.32) > 1e-14) {
    printf("%g %g %g\n", p[0], pot[1], a[0][1]);
    return 3;
  }
  return 0;
}
