/* Systems of linear equations and batches from C99. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "gdr.h"

enum { N = 60, COUNT = 9, SMALL = 3 };

static double value(int i) { return (double)((i * 7919 + 13) % 101) / 101 - 0.4; }

/* The largest |A x - b| of an N x N system. */
static double residual(const double* a, const double* x, const double* b, int transposed) {
  double worst = 0;
  for (int r = 0; r < N; ++r) {
    double sum = -b[r];
    for (int c = 0; c < N; ++c) sum += (transposed ? a[c + r * N] : a[r + c * N]) * x[c];
    if (fabs(sum) > worst) worst = fabs(sum);
  }
  return worst;
}

static void check_lu(gdr_linear_solver* solver, const double* a, const double* b) {
  double lu[N * N], x[N];
  int64_t pivots[N], zero = 7;
  memcpy(lu, a, sizeof lu);
  CHECK(gdr_linear_lu(solver, N, N, lu, N, pivots, &zero) == GDR_OK);
  CHECK(zero == -1);
  for (int transposed = 0; transposed < 2; ++transposed) {
    memcpy(x, b, sizeof x);
    CHECK(gdr_linear_solve(solver, transposed ? GDR_TRANSPOSE : GDR_NO_TRANSPOSE, N, 1, lu, N,
                           pivots, x, N) == GDR_OK);
    CHECK(residual(a, x, b, transposed) < 1e-11);
  }
  memset(lu, 0, sizeof lu);
  CHECK(gdr_linear_lu(solver, N, N, lu, N, pivots, &zero) == GDR_OK);
  CHECK(zero == 0);
  CHECK(gdr_linear_lu(solver, N, N, lu, N - 1, pivots, &zero) == GDR_ERROR_USAGE);
  CHECK(gdr_linear_lu(solver, N, N, lu, N, NULL, &zero) == GDR_ERROR_USAGE);
  CHECK(gdr_linear_lu(NULL, N, N, lu, N, pivots, &zero) == GDR_ERROR_USAGE);
  CHECK(gdr_linear_solve(solver, (gdr_transpose)5, N, 1, lu, N, pivots, x, N) == GDR_ERROR_USAGE);
}

static void check_cholesky(gdr_linear_solver* solver, const double* a, const double* b) {
  double s[N * N], factor[N * N], x[N];
  int64_t bad = 7;
  for (int r = 0; r < N; ++r)
    for (int c = 0; c < N; ++c) {
      double sum = r == c ? 1 : 0;
      for (int k = 0; k < N; ++k) sum += a[r + k * N] * a[c + k * N];
      s[r + c * N] = sum;
    }
  for (int upper = 0; upper < 2; ++upper) {
    const gdr_triangle triangle = upper ? GDR_UPPER : GDR_LOWER;
    memcpy(factor, s, sizeof factor);
    memcpy(x, b, sizeof x);
    CHECK(gdr_linear_cholesky(solver, triangle, N, factor, N, &bad) == GDR_OK);
    CHECK(bad == -1);
    CHECK(gdr_linear_solve_cholesky(solver, triangle, N, 1, factor, N, x, N) == GDR_OK);
    CHECK(residual(s, x, b, 0) < 1e-10);
    /* The same by factorisation and solve. */
    memcpy(x, b, sizeof x);
    CHECK(gdr_linear_solve_triangular(solver, GDR_LEFT, triangle,
                                      upper ? GDR_TRANSPOSE : GDR_NO_TRANSPOSE, GDR_DIAGONAL_STORED,
                                      N, 1, 1, factor, N, x, N) == GDR_OK);
    CHECK(gdr_linear_solve_triangular(solver, GDR_LEFT, triangle,
                                      upper ? GDR_NO_TRANSPOSE : GDR_TRANSPOSE, GDR_DIAGONAL_STORED,
                                      N, 1, 1, factor, N, x, N) == GDR_OK);
    CHECK(residual(s, x, b, 0) < 1e-10);
  }
  CHECK(gdr_linear_cholesky(solver, GDR_LOWER, N, memset(factor, 0, sizeof factor), N, &bad) ==
        GDR_OK);
  CHECK(bad == 0);
  double y[N];
  CHECK(gdr_linear_multiply(solver, GDR_NO_TRANSPOSE, N, N, 1, s, N, x, 1, 0, y, 1) == GDR_OK);
  for (int r = 0; r < N; ++r) CHECK(fabs(y[r] - b[r]) < 1e-10);
}

static void check_small(gdr_device* device) {
  gdr_batched_matrices* small = NULL;
  double a[COUNT * SMALL * SMALL], lu[COUNT * SMALL * SMALL], x[COUNT * SMALL], b[COUNT * SMALL];
  int64_t pivots[COUNT * SMALL];
  size_t singular = 7;
  CHECK(gdr_batched_matrices_create(device, &small) == GDR_OK);
  for (int i = 0; i < COUNT * SMALL * SMALL; ++i) lu[i] = value(i + i % 4);
  for (int i = 0; i < COUNT * SMALL; ++i) x[i] = value(5 * i);
  memset(lu + 2 * SMALL * SMALL, 0, SMALL * SMALL * sizeof(double));
  memcpy(a, lu, sizeof a);
  const size_t step = SMALL * SMALL;
  CHECK(gdr_batched_multiply(small, COUNT, SMALL, 1, SMALL, a, SMALL, step, x, SMALL, SMALL, b,
                             SMALL, SMALL) == GDR_OK);
  CHECK(gdr_batched_lu(small, COUNT, SMALL, lu, SMALL, step, pivots, &singular) == GDR_OK);
  CHECK(singular == 1);
  CHECK(gdr_batched_solve(small, COUNT, SMALL, 1, lu, SMALL, step, pivots, b, SMALL, SMALL) ==
        GDR_OK);
  for (int i = 0; i < COUNT * SMALL; ++i) CHECK(i / SMALL == 2 || fabs(b[i] - x[i]) < 1e-11);
  CHECK(gdr_batched_lu(small, COUNT, 16, lu, 16, 256, pivots, &singular) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "272 words") != NULL);
  gdr_batched_matrices_free(small);
}

int main(void) {
  gdr_device* device = NULL;
  gdr_linear_solver* solver = NULL;
  static double a[N * N], b[N];
  for (int i = 0; i < N * N; ++i) a[i] = value(i + i / N * i % 31);
  for (int i = 0; i < N; ++i) b[i] = value(3 * i);
  CHECK(gdr_device_open("exact:chips=1,blocks=2", &device) == GDR_OK);
  CHECK(gdr_linear_solver_create(device, (gdr_matrix_precision)9, 0, &solver) == GDR_ERROR_USAGE);
  CHECK(solver == NULL);
  CHECK(gdr_linear_solver_create(device, GDR_MATRIX_FULL, 0, &solver) == GDR_OK);
  check_lu(solver, a, b);
  check_cholesky(solver, a, b);
  check_small(device);
  gdr_linear_solver_free(solver);
  gdr_device_close(device);
  return failures;
}
