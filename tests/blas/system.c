// A program linked with the system's BLAS; a library path or preload redirects its calls.
#include <stdio.h>

#include "products.h"

int main(void) {
  const int n = 2, step = 1;
  const double one = 1, zero = 0, a[4] = {1, 2, 3, 4};
  double c[4], d[4];
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n, 1, 1);
  cblas_dgemm(101, 111, 111, n, n, n, one, a, n, a, n, zero, d, n);
  const int good = c[0] == 7 && c[1] == 10 && c[2] == 15 && c[3] == 22 && d[3] == 22 &&
                   ddot_(&n, a, &step, a, &step) == 5;
  puts(good ? "ok" : "wrong");
  return !good;
}
