/* A client of a generated header: sends data, runs the kernel, and checks all results. */
#include "check.h"
#include "pull.h"

enum { ni = 37, nj = 53 };

static struct pull_grape_j_particle_struct source[nj];
static struct pull_grape_i_particle_struct target[ni];
static struct pull_grape_result_struct result[ni];

static void make_particles(void) {
  int k;
  for (k = 0; k < nj; ++k) {
    source[k].xj = (float)(k % 13) / 4;
    source[k].double_ = (double)(k % 7) / 8;
    source[k].id = (int64_t)k << 33;
  }
  for (k = 0; k < ni; ++k) {
    target[k].xi = -(float)k / 8;
    target[k].tag[0] = (uint64_t)k * 0x9E3779B97F4A7C15u;
    target[k].tag[1] = (uint64_t)k % 200;
  }
}

/* All sums are exact in a double. */
static void check_results(int n, double k) {
  int i, j;
  for (i = 0; i < ni; ++i) {
    double pull = 0;
    int64_t count = 0;
    for (j = 0; j < n; ++j) {
      pull += k * source[j].double_ * ((double)source[j].xj - (double)target[i].xi);
      count += source[j].id;
    }
    CHECK(result[i].pull == pull);
    CHECK(result[i].count == count);
    CHECK(result[i].bits[0] == target[i].tag[0] && result[i].bits[1] == target[i].tag[1]);
  }
}

static void check_run(int n, double k) {
  CHECK(pull_grape_run(n) == GDR_OK);
  CHECK(pull_get_result(result, ni) == GDR_OK);
  check_results(n, k);
}

int main(void) {
  int k;
  make_particles();
  CHECK(pull_grape_run(0) != GDR_OK); /* not initialised */
  CHECK(pull_grape_init() == GDR_OK);
  CHECK(pull_grape_set_k(0.5) == GDR_OK);
  for (k = 0; k < nj; ++k) CHECK(pull_send_j_particle(&source[k], k) == GDR_OK);
  CHECK(pull_send_i_particles(target, ni) == GDR_OK);
  check_run(nj, 0.5);

  /* one source changes; then fewer sources are used; then all again */
  source[17].double_ = 3;
  CHECK(pull_send_j_particle(&source[17], 17) == GDR_OK);
  check_run(nj, 0.5);
  source[40].double_ = 5;
  CHECK(pull_send_j_particle(&source[40], 40) == GDR_OK);
  check_run(20, 0.5);
  CHECK(pull_grape_set_k(2) == GDR_OK);
  check_run(nj, 2);
  CHECK(pull_grape_run(0) == GDR_OK);
  CHECK(pull_get_result(result, ni) == GDR_OK);
  check_results(0, 2);

  /* invalid arguments are refused without side effects */
  CHECK(pull_grape_run(nj + 1) == GDR_ERROR_USAGE);
  CHECK(pull_grape_run(-1) == GDR_ERROR_USAGE);
  CHECK(pull_send_j_particle(&source[0], -1) == GDR_ERROR_USAGE);
  CHECK(pull_send_j_particle(NULL, 0) == GDR_ERROR_USAGE);
  CHECK(pull_send_i_particles(NULL, 3) == GDR_ERROR_USAGE);
  CHECK(pull_get_result(result, ni + 1) == GDR_ERROR_USAGE);
  check_run(nj, 2);

  pull_grape_close();
  CHECK(pull_grape_init() == GDR_OK); /* and again from the start */
  CHECK(pull_send_i_particles(NULL, 0) == GDR_OK);
  CHECK(pull_grape_run(0) == GDR_OK);
  CHECK(pull_get_result(NULL, 0) == GDR_OK);
  pull_grape_close();
  return failures;
}
