/* The C interface under rank failures: repeated forces while ranks 1 and 2 kill themselves, rank 1
 * in gdr_device_retry_on_rank_failure, rank 2 outside of it, after which the program calls
 * gdr_device_shrink. Every remaining rank prints its results.
 *
 * usage: test_mpi_rank_failures_c DEVICE
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdr.h"

enum { n = 200 };

typedef struct {
  gdr_device* device;
  gdr_gravity* gravity;
  double x[3 * n], m[n], a[3 * n];
  int killed; /* in the next attempt */
  int attempts;
} forces;

static void fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, gdr_last_error());
  exit(1);
}

/* Forces on this rank's part of the particles; all ranks store all particles. */
static gdr_status compute(void* data) {
  forces* f = data;
  const unsigned rank = gdr_device_rank(f->device), ranks = gdr_device_ranks(f->device);
  const size_t first = (size_t)n * rank / ranks, end = (size_t)n * (rank + 1) / ranks;
  ++f->attempts;
  if (f->killed) raise(SIGKILL);
  return gdr_gravity_compute(f->gravity, end - first, f->x + 3 * first, f->m + first, 0.125,
                             f->a + 3 * first, NULL);
}

/* Work that fails on rank 0 only. */
static gdr_status no_file(void* data) {
  const forces* f = data;
  return gdr_device_rank(f->device) == 0 ? GDR_ERROR_IO : GDR_OK;
}

static void print_part(const forces* f, const double* right, unsigned me) {
  const unsigned rank = gdr_device_rank(f->device), ranks = gdr_device_ranks(f->device);
  const size_t first = (size_t)n * rank / ranks, end = (size_t)n * (rank + 1) / ranks;
  printf("%u: rank %u of %u, %s\n", me, rank, ranks,
         memcmp(f->a + 3 * first, right + 3 * first, 3 * (end - first) * sizeof(double)) == 0
             ? "the same"
             : "different");
}

int main(int argc, char** argv) {
  static forces f, alone;
  unsigned me, failed[4] = {9, 9, 9, 9};
  size_t count = 0;
  gdr_status status;
  int k;
  if (argc != 2) return 2;
  for (k = 0; k < 3 * n; ++k) f.x[k] = (k * 7 % 31) / 31.0;
  for (k = 0; k < n; ++k) f.m[k] = 1.0 / (k + 2);
  alone = f;
  if (gdr_device_open(argv[1], &f.device) != GDR_OK) fail("open");
  if (gdr_device_open("exact:threads=1", &alone.device) != GDR_OK) fail("exact");
  if (gdr_gravity_create(f.device, &f.gravity) != GDR_OK) fail("gravity");
  if (gdr_gravity_create(alone.device, &alone.gravity) != GDR_OK) fail("gravity");
  if (compute(&alone) != GDR_OK) fail("alone");
  me = gdr_device_rank(f.device);
  if (gdr_device_retry_on_rank_failure(f.device, compute, &f) != GDR_OK) fail("whole");

  f.killed = me == 1;
  f.attempts = 0;
  while (gdr_device_ranks(f.device) == 4)
    if (gdr_device_retry_on_rank_failure(f.device, compute, &f) != GDR_OK) fail("without rank 1");
  printf("%u: attempts %d, %s\n", me, f.attempts,
         strstr(gdr_device_description(f.device), "3 ranks") ? "described" : "");
  print_part(&f, alone.a, me);

  status = gdr_device_retry_on_rank_failure(f.device, no_file, &f);
  printf("%u: status %d, %s\n", me, status, gdr_last_error());

  if (me == 2) raise(SIGKILL);
  do status = compute(&f);
  while (status == GDR_OK);
  printf("%u: status %d\n", me, status);
  if (gdr_device_shrink(f.device, failed, 1, &count) != GDR_OK) fail("shrink");
  printf("%u: failed %u, %u, count %u\n", me, failed[0], failed[1], (unsigned)count);
  if (gdr_device_retry_on_rank_failure(f.device, compute, &f) != GDR_OK) fail("without rank 2");
  print_part(&f, alone.a, me);
  fflush(stdout);
  gdr_gravity_free(f.gravity);
  gdr_device_close(f.device);
  return 0;
}
