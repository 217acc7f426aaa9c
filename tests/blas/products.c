// Products through the entry points of libgdrblas, called as from C and Fortran, against sums in
// long double: shapes, layouts, names, BLAS semantics, threads and forks. The environment chooses
// where they are computed; the calling script checks it.
#include "products.h"

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int failures, checks;
static double tolerance = 4e-16;  // relative to the sum of magnitudes

static void check(int good, const char* what, int m, int n, int k) {
  ++checks;
  if (good) return;
  if (++failures <= 20) fprintf(stderr, "FAILED: %s, m=%d n=%d k=%d\n", what, m, n, k);
}

static double random_number(void) { return drand48() - 0.5; }

static double* random_matrix(size_t size) {
  double* const x = malloc((size + 1) * sizeof *x);
  for (size_t i = 0; i < size; ++i) x[i] = random_number();
  return x;
}

/// Element (row, column) of op(X), stored by columns or by rows.
static double element(const double* x, int ld, int trans, int by_rows, int row, int column) {
  const int swap = trans ^ by_rows;
  return swap ? x[(size_t)row * (size_t)ld + (size_t)column]
              : x[(size_t)column * (size_t)ld + (size_t)row];
}

struct problem {
  int m, n, k, by_rows, ta, tb, lda, ldb, ldc;
  double alpha, beta, *a, *b, *c, *before;
  size_t c_size;
};

static struct problem make(int m, int n, int k, int by_rows, int ta, int tb, int padding) {
  struct problem p = {.m = m, .n = n, .k = k, .by_rows = by_rows, .ta = ta, .tb = tb};
  // The number of contiguous elements: rows of a matrix stored by columns.
  p.lda = (ta ^ by_rows ? k : m) + padding + 1;
  p.ldb = (tb ^ by_rows ? n : k) + padding + 1;
  p.ldc = (by_rows ? n : m) + padding + 1;
  p.alpha = 0.75;
  p.beta = -1.25;
  p.a = random_matrix((size_t)p.lda * (size_t)(ta ^ by_rows ? m : k));
  p.b = random_matrix((size_t)p.ldb * (size_t)(tb ^ by_rows ? k : n));
  p.c_size = (size_t)p.ldc * (size_t)(by_rows ? m : n);
  p.c = random_matrix(p.c_size);
  p.before = malloc((p.c_size + 1) * sizeof(double));
  memcpy(p.before, p.c, p.c_size * sizeof(double));
  return p;
}

static void drop(struct problem* p) { free(p->a), free(p->b), free(p->c), free(p->before); }

/// Checks C, and that nothing outside of it was written. `p` has copies of the inputs.
static void verify(const struct problem* p, double eps, const char* what) {
  const int outer = p->by_rows ? p->m : p->n, inner = p->by_rows ? p->n : p->m;
  int good = 1;
  for (int o = 0; o < outer; ++o) {
    for (int i = 0; i < p->ldc; ++i) {
      const size_t at = (size_t)o * (size_t)p->ldc + (size_t)i;
      if (i >= inner) {
        good &= p->c[at] == p->before[at];
        continue;
      }
      const int row = p->by_rows ? o : i, column = p->by_rows ? i : o;
      long double sum = 0, size = 0;
      for (int q = 0; q < p->k; ++q) {
        const long double x = (long double)element(p->a, p->lda, p->ta, p->by_rows, row, q) *
                              element(p->b, p->ldb, p->tb, p->by_rows, q, column);
        sum += x, size += fabsl(x);
      }
      const long double kept = p->beta == 0 ? 0 : (long double)p->beta * p->before[at];
      const long double error = fabsl(p->c[at] - (p->alpha * sum + kept));
      good &= error <= eps * (fabs(p->alpha) * size + fabsl(kept));
    }
  }
  check(good, what, p->m, p->n, p->k);
}

static void fortran(struct problem* p) {
  dgemm_(p->ta ? "T" : "n", p->tb ? "c" : "N", &p->m, &p->n, &p->k, &p->alpha, p->a, &p->lda, p->b,
         &p->ldb, &p->beta, p->c, &p->ldc, 1, 1);
}

static void c_call(struct problem* p) {
  cblas_dgemm(p->by_rows ? 101 : 102, p->ta ? 112 : 111, p->tb ? 113 : 111, p->m, p->n, p->k,
              p->alpha, p->a, p->lda, p->b, p->ldb, p->beta, p->c, p->ldc);
}

static void shapes(void) {
  static const int sizes[][3] = {
      {1, 1, 1},     {2, 3, 5},   {31, 2, 33}, {33, 5, 31}, {32, 32, 32}, {255, 3, 9}, {257, 2, 65},
      {3, 70, 1025}, {4, 4, 513}, {0, 3, 2},   {3, 0, 2},   {5, 4, 0},    {0, 0, 0}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    const int *z = sizes[s], all = z[0] < 40 && z[2] < 40;
    for (int way = 0; way < 12; ++way) {
      const int ta = way & 1, tb = way >> 1 & 1, by_rows = way >= 8;
      if (!all && way % 5 != 0) continue;
      struct problem p = make(z[0], z[1], z[2], by_rows, ta, tb, way % 3);
      if (way == 1) p.beta = 0;
      if (way == 2) p.alpha = 0;
      if (way == 3) p.beta = 1;
      if (way < 4)
        fortran(&p);
      else
        c_call(&p);
      verify(&p, tolerance, way < 4 ? "dgemm_" : by_rows ? "cblas_dgemm, rows" : "cblas_dgemm");
      drop(&p);
    }
  }
}

/// Entry points of Python wheels, with 64-bit sizes.
static void wheel_names(void) {
  struct problem p = make(7, 6, 5, 0, 0, 1, 2);
  const int64_t m = 7, n = 6, k = 5, lda = p.lda, ldb = p.ldb, ldc = p.ldc;
  static const char* const names[] = {
      "scipy_dgemm_",      "scipy_dgemm_64_",      "dgemm_64_",
      "scipy_cblas_dgemm", "scipy_cblas_dgemm64_", "cblas_dgemm64_"};
  for (int name = 0; name < 6; ++name) {
    memcpy(p.c, p.before, p.c_size * sizeof(double));
    if (name == 0)
      scipy_dgemm_("N", "T", &p.m, &p.n, &p.k, &p.alpha, p.a, &p.lda, p.b, &p.ldb, &p.beta, p.c,
                   &p.ldc, 1, 1);
    else if (name < 3)
      (name == 1 ? scipy_dgemm_64_ : dgemm_64_)("N", "T", &m, &n, &k, &p.alpha, p.a, &lda, p.b,
                                                &ldb, &p.beta, p.c, &ldc, 1, 1);
    else if (name == 3)
      scipy_cblas_dgemm(102, 111, 112, 7, 6, 5, p.alpha, p.a, p.lda, p.b, p.ldb, p.beta, p.c,
                        p.ldc);
    else
      (name == 4 ? scipy_cblas_dgemm64_ : cblas_dgemm64_)(102, 111, 112, m, n, k, p.alpha, p.a, lda,
                                                          p.b, ldb, p.beta, p.c, ldc);
    verify(&p, tolerance, names[name]);
  }
  drop(&p);
}

/// C of one row: its leading dimension may be arbitrarily large.
static void huge_leading_dimension(void) {
  const int one = 1, n = 3, k = 2, ldc = 100000000;
  const double alpha = 2, beta = 0, a[2] = {3, 4}, b[6] = {1, 2, 3, 4, 5, 6};
  double* const c = calloc(3 * (size_t)ldc, sizeof *c);  // untouched pages use no memory
  dgemm_("N", "N", &one, &n, &k, &alpha, a, &one, b, &k, &beta, c, &ldc, 1, 1);
  check(c[0] == 22 && c[ldc] == 50 && c[2 * (size_t)ldc] == 78, "leading dimension 1e8", 1, 3, 2);
  free(c);
}

/// Device only; host libraries differ (OpenBLAS 0.3.21 reads a small A if alpha is 0).
static void special_values(void) {
  const int n = 2;
  const double one = 1, zero = 0, a[4] = {1, 2, 3, 4}, with_nan[4] = {NAN, 1, 1, INFINITY};
  double c[4] = {NAN, INFINITY, NAN, 1};
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n, 1, 1);  // A and B may be the same
  check(c[0] == 7 && c[1] == 10 && c[2] == 15 && c[3] == 22, "beta = 0 does not read C", 2, 2, 2);
  dgemm_("N", "N", &n, &n, &n, &zero, with_nan, &n, a, &n, &one, c, &n, 1, 1);
  check(c[0] == 7 && c[3] == 22, "alpha = 0 does not read A", 2, 2, 2);
  dgemm_("N", "N", &n, &n, &n, &one, with_nan, &n, a, &n, &zero, c, &n, 1, 1);
  check(isnan(c[0]) && isinf(c[1]) && isnan(c[2]) && isinf(c[3]), "NaN and infinity", 2, 2, 2);
}

static void single_precision(void) {
  enum { m = 33, n = 9, k = 70 };
  static float a[m * k], b[k * n], c[m * n], by_rows[m * n];
  for (int i = 0; i < m * k; ++i) a[i] = (float)random_number();
  for (int i = 0; i < k * n; ++i) b[i] = (float)random_number();
  const int rows = m, columns = n, inner = k;
  const float one = 1, zero = 0;
  sgemm_("N", "N", &rows, &columns, &inner, &one, a, &rows, b, &inner, &zero, c, &rows, 1, 1);
  cblas_sgemm(101, 112, 112, m, n, k, one, a, m, b, k, zero, by_rows, n);
  int good = 1;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0, size = 0;
      for (int q = 0; q < k; ++q) {
        const double x = (double)a[i + q * m] * b[q + j * k];
        sum += x, size += fabs(x);
      }
      good &= fabs(c[i + j * m] - sum) <= 2e-7 * size;
      good &= fabs(by_rows[i * n + j] - sum) <= 2e-7 * size;
    }
  check(good, "sgemm_ and cblas_sgemm", m, n, k);
}

/// Forwarded routines: results in every kind of register, many arguments, complex values.
static void other_routines(void) {
  const int n = 3, step = 1;
  const double x[3] = {1, 2, 3}, y[3] = {4, 5, 6}, alpha = 2;
  double z[3] = {1, 1, 1};
  const float f[3] = {3, 4, 12};
  const double complex u[2] = {1 + 2 * I, 3}, v[2] = {I, 2 - I};
  const int two = 2;
  check(ddot_(&n, x, &step, y, &step) == 32, "ddot_", n, 0, 0);
  check(cblas_ddot(n, x, 1, y, 1) == 32, "cblas_ddot", n, 0, 0);
  check(snrm2_(&n, f, &step) == 13, "snrm2_", n, 0, 0);
  check(idamax_(&n, y, &step) == 3, "idamax_", n, 0, 0);
  daxpy_(&n, &alpha, x, &step, z, &step);
  check(z[0] == 3 && z[2] == 7, "daxpy_", n, 0, 0);
  // conj(u) v = (1 - 2i) i + 3 (2 - i) = 8 - 2i
  check(zdotc_(&two, u, &step, v, &step) == 8 - 2 * I, "zdotc_", 2, 0, 0);
  double triangle[4] = {2, 1, 0, 4}, right[2] = {2, 9};
  cblas_dtrsm(102, 141, 122, 111, 131, 2, 1, 1.0, triangle, 2, right, 2);
  check(right[0] == 1 && right[1] == 2, "cblas_dtrsm", 2, 1, 0);
}

static void* in_thread(void* unused) {
  for (int i = 0; i < 4; ++i) {
    struct problem p = make(20 + i, 9, 17, 0, i & 1, 0, 1);
    fortran(&p);
    verify(&p, tolerance, "dgemm_ of several threads");
    drop(&p);
  }
  return unused;
}

static void threads(void) {
  pthread_t thread[4];
  for (int t = 0; t < 4; ++t) pthread_create(&thread[t], NULL, in_thread, NULL);
  for (int t = 0; t < 4; ++t) pthread_join(thread[t], NULL);
}

/// A child process has none of the threads of its parent's device.
static void forks(void) {
#ifdef GDR_SANITIZE_THREAD
  return;  // the thread sanitizer kills children that start threads
#endif
  const pid_t child = fork();
  if (child == 0) {
    failures = 0;
    alarm(60);
    in_thread(NULL);
    _exit(failures != 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  check(status == 0, "dgemm_ in the child of a fork", 0, 0, 0);
  in_thread(NULL);
}

/// usage: products [device|alone]: device: all products on the device; alone: no host BLAS
int main(int argc, char** argv) {
  const char* const precision = getenv("GDR_BLAS_PRECISION");
  if (precision != NULL && strcmp(precision, "chip") == 0) tolerance = 4e-15;
  // A host BLAS rounds every intermediate sum.
  if (argc == 1 || strcmp(argv[1], "device") != 0) tolerance = 4e-15;
  shapes();
  wheel_names();
  huge_leading_dimension();
  if (argc > 1 && strcmp(argv[1], "device") == 0) special_values();
  single_precision();
  if (argc == 1 || strcmp(argv[1], "alone") != 0) other_routines();
  threads();
  forks();
  printf("%d passed, %d failed\n", checks - failures, failures);
  return failures != 0;
}
