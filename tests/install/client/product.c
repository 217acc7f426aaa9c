/* A program for the original library's matrix product: a rotation times a vector. */
#include <gdrdgemm.h>
#include <stdio.h>

int main(void) {
  const int one = 1, two = 2;
  const double alpha = 1, beta = 0, turn[4] = {0, 1, -1, 0}, x[2] = {3, 4};
  double y[2] = {0, 0};
  int done = 0;
  gdr_init();
  gdr_dgemm_(&one, &one, &two, &one, &two, &alpha, &beta, &two, &two, &two, turn, x, y, &done);
  gdr_free();
  printf("%d: %g %g\n", done, y[0], y[1]);
  return done == 1 && y[0] == -4 && y[1] == 3 ? 0 : 1;
}
