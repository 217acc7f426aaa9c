// Invalid arguments are reported to the program's own xerbla_ and cblas_xerbla, with the correct
// number and name, and C is unchanged.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "products.h"

static char name[32];
static int number;

void xerbla_(const char* routine, const int* info, size_t length);
void xerbla_(const char* routine, const int* info, size_t length) {
  memcpy(name, routine, length);
  name[length] = '\0';
  number = *info;
}

void cblas_xerbla(int info, const char* routine, const char* form, ...);
void cblas_xerbla(int info, const char* routine, const char* form, ...) {
  (void)form;
  strcpy(name, routine);
  number = info;
}

static int failures, checks;

static void expect(const char* wanted, int info, double c) {
  ++checks;
  if (strcmp(name, wanted) != 0 || number != info || c != 5) {
    ++failures;
    fprintf(stderr, "FAILED: %s argument %d expected, %s %d came, C is %g\n", wanted, info, name,
            number, c);
  }
  name[0] = '\0';
  number = 0;
}

static void fortran(const char* ta, const char* tb, int m, int n, int k, int lda, int ldb, int ldc,
                    int info) {
  const double one = 1, x[16] = {1};
  const float one_f = 1, x_f[16] = {1};
  double c = 5;
  float c_f = 5;
  dgemm_(ta, tb, &m, &n, &k, &one, x, &lda, x, &ldb, &one, &c, &ldc, 1, 1);
  expect("DGEMM ", info, c);
  sgemm_(ta, tb, &m, &n, &k, &one_f, x_f, &lda, x_f, &ldb, &one_f, &c_f, &ldc, 1, 1);
  expect("SGEMM ", info, c_f);
}

static void c_call(int layout, int ta, int tb, int m, int n, int k, int lda, int ldb, int ldc,
                   int info) {
  const double x[16] = {1};
  double c = 5;
  cblas_dgemm(layout, ta, tb, m, n, k, 1, x, lda, x, ldb, 1, &c, ldc);
  expect("cblas_dgemm", info, c);
}

int main(void) {
  fortran("/", "N", 1, 1, 1, 1, 1, 1, 1);
  fortran("N", "x", 1, 1, 1, 1, 1, 1, 2);
  fortran("N", "N", -1, 1, 1, 1, 1, 1, 3);
  fortran("N", "N", 1, -1, 1, 1, 1, 1, 4);
  fortran("N", "N", 1, 1, -1, 1, 1, 1, 5);
  fortran("N", "N", 2, 1, 1, 1, 1, 2, 8);
  fortran("t", "N", 1, 1, 2, 1, 2, 1, 8);
  fortran("N", "N", 1, 1, 2, 1, 1, 1, 10);
  fortran("N", "C", 1, 2, 1, 1, 1, 1, 10);
  fortran("N", "N", 2, 1, 1, 2, 1, 1, 13);
  fortran("N", "N", 0, 0, 0, 0, 1, 1, 8);
  // The number is that of the C argument as the caller passed it. (This program has no
  // RowMajorStrg.)
  c_call(100, 111, 111, 1, 1, 1, 1, 1, 1, 1);
  c_call(102, 100, 111, 1, 1, 1, 1, 1, 1, 2);
  c_call(101, 111, 200, 1, 1, 1, 1, 1, 1, 3);
  c_call(102, 111, 111, -1, 1, 1, 1, 1, 1, 4);
  c_call(101, 111, 111, -1, 1, 1, 1, 1, 1, 4);
  c_call(101, 111, 111, 1, -1, 1, 1, 1, 1, 5);
  c_call(101, 111, 111, 1, 1, -1, 1, 1, 1, 6);
  c_call(101, 111, 111, 1, 1, 2, 1, 1, 1, 9);
  c_call(102, 111, 111, 2, 1, 1, 1, 1, 2, 9);
  c_call(101, 111, 111, 1, 2, 1, 1, 1, 2, 11);
  c_call(101, 111, 111, 1, 2, 1, 1, 2, 1, 14);
  printf("%d passed, %d failed\n", checks - failures, failures);
  return failures != 0;
}
