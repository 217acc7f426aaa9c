/* The original's matrix product as its programs call it, from C99. */
#define _POSIX_C_SOURCE 200809L
#include <gdrdgemm.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* gdr_last_error(void) { return "none: this interface has messages"; }
#include "../capi/check.h"

static int saved_stderr = -1;
static char message_file[] = "/tmp/gdrdgemm_XXXXXX";
static char text[4096];

/* Redirects standard error: text written between these two calls is stored in `text`. */
static void begin_messages(void) {
  static int file = -1;
  if (file < 0) file = mkstemp(message_file);
  fflush(stderr);
  saved_stderr = dup(2);
  (void)!ftruncate(file, 0);
  lseek(file, 0, SEEK_SET);
  dup2(file, 2);
}
static const char* end_messages(void) {
  long n;
  fflush(stderr);
  lseek(2, 0, SEEK_SET);
  n = read(2, text, sizeof text - 1);
  text[n > 0 ? n : 0] = 0;
  dup2(saved_stderr, 2);
  close(saved_stderr);
  return text;
}

/* C = alpha op(A) op(B) + beta C, as a program would call it; returns `done`. */
static int multiply(int nota, int notb, int m, int n, int k, double alpha, double beta,
                    const double* a, int lda, const double* b, int ldb, double* c, int ldc) {
  int done = 0;
  gdr_dgemm_(&nota, &notb, &m, &n, &k, &alpha, &beta, &lda, &ldb, &ldc, a, b, c, &done);
  return done;
}

/* The initial check of the original's HPL program: row-major, so A and B are exchanged. Its size
 * was 2048; the default here is smaller. */
static void test_identity(void) {
  const char* const given = getenv("GDR_TEST_IDENTITY");
  const int n = given != NULL ? atoi(given) : 300;
  const size_t all = (size_t)n * (size_t)n;
  double* const a = calloc(all, sizeof *a);
  double* const b = malloc(all * sizeof *b);
  double* const c = malloc(all * sizeof *c);
  int i, j, swap;
  for (i = 0; i < n; ++i) {
    a[(size_t)i * (size_t)n + (size_t)i] = 1;
    for (j = 0; j < n; ++j) b[(size_t)i * (size_t)n + (size_t)j] = i * 2048 + j;
  }
  for (swap = 0; swap < 2; ++swap) {
    memset(c, 0xff, all * sizeof *c); /* NaN: C is not read */
    if (swap) gdrsetforceswapab();
    CHECK(multiply(1, 1, n, n, n, 1, 0, b, n, a, n, c, n) == 1);
    gdrresetforceswapab();
    CHECK(memcmp(b, c, all * sizeof *c) == 0);
  }
  free(a), free(b), free(c);
}

enum { ld = 60 };
static double left[ld * ld], right[ld * ld], result[ld * ld];

/* Small whole numbers, so that sums are exact. */
static void fill(double* x, int seed) {
  int i;
  for (i = 0; i < ld * ld; ++i) x[i] = (i * 7 + i * i % 13 + seed) % 19 - 9;
}

static int errors_of(int nota, int notb, int m, int n, int k, double alpha, double beta,
                     const double* b) {
  int i, j, l, errors = 0;
  for (j = 0; j < ld; ++j) {
    for (i = 0; i < ld; ++i) {
      const double old = i - 2 * j;
      double sum = 0;
      for (l = 0; l < k && i < m && j < n; ++l)
        sum += left[nota ? i + l * ld : l + i * ld] * b[notb ? l + j * ld : j + l * ld];
      errors += result[i + j * ld] != (i < m && j < n ? alpha * sum + beta * old : old);
    }
  }
  return errors;
}
static void fill_result(void) {
  int i, j;
  for (j = 0; j < ld; ++j)
    for (i = 0; i < ld; ++i) result[i + j * ld] = i - 2 * j;
}

static void test_transposes(void) {
  int way;
  fill(left, 1);
  fill(right, 2);
  for (way = 0; way < 8; ++way) {
    const int nota = way & 1, notb = way >> 1 & 1;
    fill_result();
    if (way & 4) gdrsetforceswapab();
    CHECK(multiply(nota, notb, 50, 7, 33, -2, 3, left, ld, right, ld, result, ld) == 1);
    gdrresetforceswapab();
    CHECK(errors_of(nota, notb, 50, 7, 33, -2, 3, right) == 0);
  }
  fill_result();
  CHECK(multiply(1, 1, 0, 7, 3, 1, 0, left, ld, right, ld, result, ld) == 1); /* nothing to do */
  CHECK(multiply(1, 1, 5, 7, 0, 1, 1, NULL, ld, NULL, ld, result, ld) == 1);
  CHECK(errors_of(1, 1, 0, 0, 0, 1, 0, right) == 0);
}

/* Skip-send in a program that changes A between products and keeps B, and in one that changes B
 * although it requested skip-send. */
static void test_skip(void) {
  set_matmul_msg_level(2);
  gdrdgemm_set_procname(5);
  gdrsetforceswapab();
  begin_messages();
  CHECK(multiply(1, 1, 20, 30, 40, 1, 0, left, ld, right, ld, result, ld) == 1);
  CHECK(strstr(end_messages(), "process 5, board 0: 20 x 30 x 40 in ") != NULL);
  CHECK(strstr(text, "B in the memories\n") != NULL);
  gdrsetskipsendjmat();
  fill(left, 3);
  fill_result();
  begin_messages();
  CHECK(multiply(1, 1, 20, 30, 40, 1, 0, left, ld, right, ld, result, ld) == 1);
  CHECK(strstr(end_messages(), "B in the memories as before\n") != NULL);
  CHECK(errors_of(1, 1, 20, 30, 40, 1, 0, right) == 0);
  right[39 + 29 * ld] += 1; /* the last element */
  fill_result();
  begin_messages();
  CHECK(multiply(1, 1, 20, 30, 40, 1, 0, left, ld, right, ld, result, ld) == 1);
  CHECK(strstr(end_messages(), "B in the memories\n") != NULL);
  CHECK(errors_of(1, 1, 20, 30, 40, 1, 0, right) == 0);
  gdrresetforceswapab(); /* now A stays */
  begin_messages();
  CHECK(multiply(1, 1, 20, 30, 40, 1, 0, left, ld, right, ld, result, ld) == 1);
  fill(right, 7);
  fill_result();
  CHECK(multiply(1, 1, 20, 30, 40, 1, 0, left, ld, right, ld, result, ld) == 1);
  CHECK(strstr(end_messages(), "A in the memories as before\n") != NULL);
  CHECK(errors_of(1, 1, 20, 30, 40, 1, 0, right) == 0);
  gdrresetskipsendjmat();
  begin_messages();
  CHECK(multiply(1, 1, 20, 30, 40, 1, 0, left, ld, right, ld, result, ld) == 1);
  CHECK(strstr(end_messages(), "as before") == NULL);
  set_matmul_msg_level(1);
}

static void test_refusals(void) {
  const int one = 1, size = 4;
  int done = 1;
  const double x = 1;
  fill_result();
  begin_messages();
  CHECK(multiply(1, 1, 20, 30, 40, 1, 0, left, 10, right, ld, result, ld) == 0);
  CHECK(multiply(1, 1, 20, 30, 40, 1, 0, left, 10, right, ld, result, ld) == 0);
  end_messages();
  CHECK(strstr(text, "the leading dimension of A is 10, but it has 20 rows") != NULL);
  CHECK(strchr(text, '\n') == text + strlen(text) - 1); /* reported once */
  begin_messages();
  CHECK(multiply(2, 1, 2, 2, 2, 1, 0, left, ld, right, ld, result, ld) == 0);
  CHECK(strstr(end_messages(), "nota is 2; must be 1 (not transposed)") != NULL);
  begin_messages();
  CHECK(multiply(1, 1, 2, -2, 2, 1, 0, left, ld, right, ld, result, ld) == 0);
  CHECK(strstr(end_messages(), "n is -2") != NULL);
  begin_messages();
  CHECK(multiply(1, 1, 2, 2, 2, 1, 0, left, ld, NULL, ld, result, ld) == 0);
  CHECK(strstr(end_messages(), "is a null pointer") != NULL);
  begin_messages();
  CHECK(multiply(1, 1, 2, 2, 2, 1, 0, left, ld, right, 0x7fffffff, result, -1) == 0);
  CHECK(strstr(end_messages(), "ldc is -1") != NULL);
  begin_messages();
  gdr_dgemm_(&one, &one, NULL, &size, &size, &x, &x, &size, &size, &size, left, right, result,
             &done);
  CHECK(done == 0);
  gdr_dgemm_(&one, &one, &size, &size, &size, &x, &x, &size, &size, &size, left, right, NULL, NULL);
  gdrsetboardid(-1);
  gdrsetnboards(0);
  end_messages();
  CHECK(strstr(text, "m is a null pointer") != NULL);
  CHECK(strstr(text, "no board -1") != NULL);
  CHECK(strstr(text, "gdrsetnboards: 0 boards") != NULL);
  set_matmul_msg_level(0);
  begin_messages();
  CHECK(multiply(1, 7, 2, 2, 2, 1, 0, left, ld, right, ld, result, ld) == 0);
  CHECK(strlen(end_messages()) == 0);
  set_matmul_msg_level(1);
  CHECK(errors_of(1, 1, 0, 0, 0, 1, 0, right) == 0); /* nothing was written */
}

static void test_environment(const char* device) {
  enum { n = 40 };
  static double identity[n * n], b[n * n], c[n * n];
  int i;
  for (i = 0; i < n * n; ++i) identity[i] = i % (n + 1) == 0, b[i] = sin(i + 1.0);
  CHECK(multiply(1, 1, n, n, n, 1, 0, identity, n, b, n, c, n) == 1);
  CHECK(memcmp(b, c, sizeof b) != 0); /* three bits are cut */
  gdr_free();
  setenv("GDR_DGEMM_PRECISION", "full", 1);
  CHECK(multiply(1, 1, n, n, n, 1, 0, identity, n, b, n, c, n) == 1);
  CHECK(memcmp(b, c, sizeof b) == 0);
  gdr_free();
  setenv("GDR_DGEMM_PRECISION", "double", 1);
  begin_messages();
  CHECK(multiply(1, 1, n, n, n, 1, 0, identity, n, b, n, c, n) == 0);
  CHECK(strstr(end_messages(), "GDR_DGEMM_PRECISION is \"double\"") != NULL);
  unsetenv("GDR_DGEMM_PRECISION");
  setenv("GDR_DEVICE", "emulater", 1);
  begin_messages();
  gdr_init();
  CHECK(strstr(end_messages(), "did you mean \"emulator\"") != NULL);
  setenv("GDR_DEVICE", device, 1);
  set_matmul_msg_level(2);
  begin_messages();
  gdrsetboardid(3);
  gdrsetnboards(2);
  gdrdgemm_set_stress_factor(4);
  gdr_init();
  CHECK(strstr(end_messages(), "board 3: emulator: 2 boards of 2 chips") != NULL);
  set_matmul_msg_level(1);
  CHECK(multiply(1, 1, n, n, n, 1, 0, identity, n, b, n, c, n) == 1);
}

static void* products(void* name) {
  int i, *wrong = name;
  double a[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[9], c[9];
  for (i = 0; i < 9; ++i) b[i] = *wrong + i;
  for (i = 0, *wrong = 0; i < 20; ++i) {
    *wrong += multiply(1, 1, 3, 3, 3, 1, 0, a, 3, b, 3, c, 3) != 1;
    *wrong += memcmp(b, c, sizeof b) != 0;
  }
  return NULL;
}
static void test_threads(void) {
  pthread_t thread;
  int here = 100, there = 200;
  CHECK(pthread_create(&thread, NULL, products, &there) == 0);
  products(&here);
  pthread_join(thread, NULL);
  CHECK(here == 0 && there == 0);
}

int main(void) {
  const char* const device = "emulator:engine=vector,chips=2,blocks=2";
  setenv("GDR_DEVICE", device, 1);
  unsetenv("GDR_DGEMM_PRECISION");
  test_identity();
  test_transposes();
  test_skip();
  test_refusals();
  test_environment(device);
  test_threads();
  gdr_free();
  unlink(message_file);
  return failures;
}
