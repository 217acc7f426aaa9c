/* The C interface on the ranks of a communicator that is not all of them: two halves of the
 * processes compute on their own, and compare with one process. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "gdr.h"

enum { n = 60 };

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, gdr_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}

/* Accelerations of particles first .. first + count - 1, and all of them as sources; on ranks each
 * has count of them. */
static void forces(gdr_device* device, size_t first, size_t count, const double* x, const double* m,
                   double* a) {
  gdr_gravity* gravity = NULL;
  if (gdr_gravity_create(device, &gravity) != GDR_OK) fail("gravity");
  if (gdr_gravity_compute(gravity, count, x + 3 * first, m + first, 0.125, a, NULL) != GDR_OK)
    fail("forces");
  gdr_gravity_free(gravity);
}

int main(int argc, char** argv) {
  int level, rank, own, size, k;
  double x[3 * n], m[n], all[3 * n], part[3 * n];
  gdr_device *shared = NULL, *alone = NULL;
  MPI_Comm half;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_rank(half, &own);
  MPI_Comm_size(half, &size);
  for (k = 0; k < 3 * n; ++k) x[k] = (k * 7 % 31) / 31.0 + rank % 2;
  for (k = 0; k < n; ++k) m[k] = 1.0 / (k + 2);
  if (gdr_device_open_mpi((int)MPI_Comm_c2f(half), "mpi:threads=1", &shared) != GDR_OK) fail("mpi");
  if (gdr_device_open("emulator:threads=1", &alone) != GDR_OK) fail("emulator");
  forces(shared, (size_t)(own * n / size), n / 2, x, m, part);
  forces(alone, 0, n, x, m, all);
  printf("%d: %d ranks, %s\n", rank, size,
         memcmp(part, all + 3 * (own * n / size), 3 * n / 2 * sizeof(double)) == 0 ? "the same"
                                                                                   : "different");
  gdr_device_close(alone);
  gdr_device_close(shared);
  /* What cannot be used is refused, with a message. */
  shared = NULL;
  if (rank == 0)
    printf("null communicator: %d\n",
           gdr_device_open_mpi((int)MPI_Comm_c2f(MPI_COMM_NULL), NULL, &shared) != GDR_OK &&
               shared == NULL && strlen(gdr_last_error()) > 0);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
