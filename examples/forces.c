/* Gravity from C, with error handling.
 *   cc -std=c99 forces.c -lgdr -lm
 */
#include <gdr.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { n = 500 };

static void check(gdr_status status) {
  if (status == GDR_OK) return;
  fprintf(stderr, "%s\n", gdr_last_error());
  exit(1);
}

int main(void) {
  static double x[3 * n], m[n], acc[3 * n], pot[n];
  double sum[3] = {0, 0, 0}, size = 0;
  gdr_device* device;
  gdr_gravity* gravity;
  int i, k;
  for (i = 0; i < n; ++i) {
    for (k = 0; k < 3; ++k) x[3 * i + k] = sin(1.7 * i + 2.0 * k) * cos(0.3 * i);
    m[i] = 1.0 / n;
  }
  check(gdr_device_open(NULL, &device)); /* GDR_DEVICE, or an emulated board by default */
  check(gdr_gravity_create(device, &gravity));
  check(gdr_gravity_compute(gravity, n, x, m, 0.05, acc, pot));
  for (i = 0; i < n; ++i)
    for (k = 0; k < 3; ++k) {
      sum[k] += m[i] * acc[3 * i + k];
      size += m[i] * fabs(acc[3 * i + k]);
    }
  printf("%s\n", gdr_device_description(device));
  printf("sum of magnitudes of forces %.6f, sum of forces (%.1e, %.1e, %.1e)\n", size, sum[0],
         sum[1], sum[2]);
  gdr_gravity_free(gravity);
  gdr_device_close(device);
  return fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2]) < 1e-6 * size ? 0 : 1;
}
