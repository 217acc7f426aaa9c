/* The C interface on the ranks of a communicator that is not all of them: two halves of the
 * processes compute on their own, and compare with one process. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdr.h"

enum { n = 60 };

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, gdr_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}

/* Accelerations of the targets first .. first + count - 1, which are also this rank's sources. */
static void forces(gdr_device* device, size_t first, size_t count, const double* x, const double* m,
                   double* a) {
  gdr_gravity* gravity = NULL;
  if (gdr_gravity_create(device, &gravity) != GDR_OK) fail("gravity");
  if (gdr_gravity_compute(gravity, count, x + 3 * first, m + first, 0.125, a, NULL) != GDR_OK)
    fail("forces");
  gdr_gravity_free(gravity);
}

/* Sums within a cut-off in a periodic box, and a tree, of the same particles: u(count), a(3,
 * count).
 */
static void sums(gdr_device* device, size_t first, size_t count, const double* x, const double* m,
                 double* u, double* a) {
  const double box[9] = {1.5, 0, 0, 0, 1.5, 0, 0, 0, 1.5};
  gdr_result results[] = {{"u", NULL, GDR_F64, 0}};
  gdr_tree_options options;
  gdr_kernel* kernel = NULL;
  gdr_pair_sum* sum = NULL;
  gdr_gravity* gravity = NULL;
  results[0].data = u;
  if (gdr_kernel_builtin("lennard_jones", &kernel) != GDR_OK ||
      gdr_pair_sum_create(device, kernel, 0.5, -1, 0, &sum) != GDR_OK ||
      gdr_pair_sum_set(sum, "rc2", 0.25) != GDR_OK ||
      gdr_pair_sum_set_box(sum, box, NULL) != GDR_OK ||
      gdr_pair_sum_run(sum, count, x + 3 * first, NULL, 0, NULL, 0, results, 1) != GDR_OK)
    fail("sum within a cut-off");
  memset(&options, 0, sizeof options);
  options.method = GDR_TREE_MONOPOLE;
  options.theta = 0.6;
  if (gdr_gravity_create(device, &gravity) != GDR_OK ||
      gdr_gravity_compute_tree(gravity, count, x + 3 * first, m + first, 0.125, a, NULL, &options,
                               sizeof options, NULL, 0) != GDR_OK)
    fail("tree");
  gdr_gravity_free(gravity);
  gdr_pair_sum_free(sum);
  gdr_kernel_free(kernel);
}

/* All ranks receive the reports of all; members and ranks beyond the caller's structure and array
 * are not written. */
static void check_reports(gdr_device* shared, gdr_device* alone, int size) {
  gdr_rank_report reports[8];
  size_t count = 9;
  uint64_t pairs = 0;
  int k, good;
  memset(reports, 0xff, sizeof reports);
  if (gdr_device_rank_reports(shared, reports, sizeof *reports, 8, &count) != GDR_OK)
    fail("reports");
  good = count == (size_t)size;
  for (k = 0; k < size; ++k) {
    pairs += reports[k].pairs;
    good = good && reports[k].rank == (unsigned)k && strlen(reports[k].host) > 0 &&
           reports[k].boards == 1 && reports[k].threads == 1 && reports[k].seconds > 0;
  }
  good = good && pairs == (uint64_t)n * n && reports[size].rank == ~0U;
  memset(reports, 0xff, sizeof reports);
  if (gdr_device_rank_reports(shared, reports, sizeof(unsigned), 1, &count) != GDR_OK)
    fail("short reports");
  good = good && count == (size_t)size && reports[0].rank == 0 && reports[0].host[0] != 0;
  if (gdr_device_rank_reports(alone, NULL, sizeof *reports, 0, &count) != GDR_OK) fail("alone");
  good = good && count == 0;
  good =
      good && gdr_device_rank_reports(shared, NULL, sizeof *reports, 1, &count) == GDR_ERROR_USAGE;
  if (!good) {
    fprintf(stderr, "wrong reports\n");
    exit(1);
  }
}

int main(int argc, char** argv) {
  int level, rank, own, size, k;
  double x[3 * n], m[n], all[3 * n], part[3 * n], u[n], own_u[n];
  gdr_device *shared = NULL, *alone = NULL;
  MPI_Comm half;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_rank(half, &own);
  MPI_Comm_size(half, &size);
  for (k = 0; k < 3 * n; ++k) x[k] = (k * 7 % 31) / 31.0 + rank % 2;
  for (k = 0; k < n; ++k) m[k] = 1.0 / (k + 2);
  if (gdr_device_open_mpi((int)MPI_Comm_c2f(half), "mpi:engine=exact,threads=1", &shared) != GDR_OK)
    fail("mpi");
  if (gdr_device_open("exact:threads=1", &alone) != GDR_OK) fail("exact");
  forces(shared, (size_t)(own * n / size), n / 2, x, m, part);
  forces(alone, 0, n, x, m, all);
  printf("%d: %d ranks, %s\n", rank, size,
         memcmp(part, all + 3 * (own * n / size), 3 * n / 2 * sizeof(double)) == 0 ? "the same"
                                                                                   : "different");
  check_reports(shared, alone, size);
  sums(shared, (size_t)(own * n / size), n / 2, x, m, own_u, part);
  sums(alone, 0, n, x, m, u, all);
  if (memcmp(part, all + 3 * (own * n / size), 3 * n / 2 * sizeof(double)) == 0 &&
      memcmp(own_u, u + own * n / size, n / 2 * sizeof(double)) == 0)
    printf("%d: the same sums\n", rank);
  gdr_device_close(alone);
  gdr_device_close(shared);
  /* A null communicator is refused with a message. */
  shared = NULL;
  if (rank == 0)
    printf("null communicator: %d\n",
           gdr_device_open_mpi((int)MPI_Comm_c2f(MPI_COMM_NULL), NULL, &shared) != GDR_OK &&
               shared == NULL && strlen(gdr_last_error()) > 0);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
