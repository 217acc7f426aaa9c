/* Set jobs of the C interface: flattened lists of sets, compared with plain sums and with jobs. */
#include <gdr.h>
#include <math.h>
#include <string.h>

#include "check.h"

/* Springs between multiples of 1/8, so that sums have the same bits in any order. */
static const char* const spring =
    "CONST k; VARI xi; VARJ xj, mj; VARF force;\n"
    "force += k*mj*(xj - xi);\n";
static const char* const gravity =
    "CONST eps2; VARI vec3 x; VARJ vec3 xs; VARJ m; VARF vec3 acc;\n"
    "d = xs - x; r2 = dot(d, d) + eps2; w = rsqrt(r2); acc += m*w*w*w*d;\n";

enum { n = 90, sets = 4, listed = 7 };
static double x[n], m[n], force[n];
static const int64_t targets[sets + 1] = {0, 20, 20, 57, 90};
static const int64_t lists[sets + 1] = {0, 3, 4, 4, listed};
static const int64_t ranges[sets + 1] = {5, 30, 30, 31, 80};
static const int32_t places[listed] = {3, 3, 89, 0, 41, 7, 8};

static gdr_input input(const char* name, const double* data) {
  gdr_input in;
  in.name = name, in.data = data, in.type = GDR_F64, in.stride = 0;
  return in;
}

static gdr_result result(const char* name, double* data) {
  gdr_result out;
  out.name = name, out.data = data, out.type = GDR_F64, out.stride = 0;
  return out;
}

/* Compares the forces of all sets: sources by index, then (if `both`) those of the ranges. */
static void check_forces(double k, int by_index, int by_range) {
  int s;
  int64_t i, j;
  for (s = 0; s < sets; ++s)
    for (i = targets[s]; i < targets[s + 1]; ++i) {
      double sum = 0;
      for (j = lists[s]; by_index && j < lists[s + 1]; ++j)
        sum += k * m[places[j]] * (x[places[j]] - x[i]);
      for (j = ranges[s]; by_range && j < ranges[s + 1]; ++j) sum += k * m[j] * (x[j] - x[i]);
      CHECK(force[i] == sum);
    }
}

static gdr_set_job* spring_job(gdr_device* device) {
  gdr_kernel* kernel = NULL;
  gdr_set_job* job = NULL;
  CHECK(gdr_kernel_compile(spring, "spring", &kernel) == GDR_OK);
  CHECK(gdr_set_job_create(device, kernel, &job) == GDR_OK);
  gdr_kernel_free(kernel);
  CHECK(gdr_set_job_set(job, "k", 0.5) == GDR_OK);
  return job;
}

static void add_targets(gdr_set_job* job) {
  const gdr_input in = input("xi", x);
  const gdr_result out = result("force", force);
  CHECK(gdr_set_job_add_sets(job, sets, targets, &in, 1, &out, 1) == GDR_OK);
}

/* Sources by index and as ranges; a second run reads the arrays again. */
static void test_lists(gdr_device* device) {
  gdr_set_job* job = spring_job(device);
  gdr_input in[2];
  gdr_statistics s;
  int64_t pairs = 0;
  int32_t index[listed];
  int64_t offsets[sets + 1];
  int k;
  in[0] = input("xj", x), in[1] = input("mj", m);
  add_targets(job);
  memcpy(index, places, sizeof index);
  memcpy(offsets, lists, sizeof offsets);
  CHECK(gdr_set_job_add_sources_at(job, sets, offsets, listed, index, n, in, 2) == GDR_OK);
  memset(index, -1, sizeof index); /* offsets and places are copied */
  memset(offsets, -1, sizeof offsets);
  CHECK(gdr_device_reset_statistics(device) == GDR_OK);
  CHECK(gdr_set_job_run(job) == GDR_OK);
  check_forces(0.5, 1, 0);
  for (k = 0; k < sets; ++k) pairs += (targets[k + 1] - targets[k]) * (lists[k + 1] - lists[k]);
  CHECK(gdr_device_statistics(device, &s) == GDR_OK);
  CHECK(s.interactions == (uint64_t)pairs && s.chip_clocks > 0);

  CHECK(gdr_set_job_add_sources(job, sets, ranges, n, in, 2) == GDR_OK);
  m[40] = 3;
  CHECK(gdr_set_job_set(job, "k", 0.25) == GDR_OK);
  CHECK(gdr_set_job_start(job) == GDR_OK);
  CHECK(gdr_set_job_wait(job) == GDR_OK);
  CHECK(gdr_set_job_ready(job) == 1);
  check_forces(0.25, 1, 1);

  CHECK(gdr_set_job_clear(job) == GDR_OK);
  memset(force, 0, sizeof force);
  force[0] = -7;
  CHECK(gdr_set_job_run(job) == GDR_OK);
  CHECK(force[0] == -7); /* there are no sets */
  add_targets(job);
  CHECK(gdr_set_job_run(job) == GDR_OK);
  CHECK(force[0] == 0); /* nor sources */
  gdr_set_job_free(job);
}

/* Sets that are added one by one have the sums of flattened lists. */
static void test_single_sets(gdr_device* device) {
  gdr_set_job* job = spring_job(device);
  gdr_input in[2];
  int s;
  in[0] = input("xj", x), in[1] = input("mj", m);
  for (s = 0; s < sets; ++s) {
    const gdr_input target = input("xi", x);
    const gdr_result out = result("force", force);
    const int64_t count = lists[s + 1] - lists[s], all[2] = {0, count};
    CHECK(gdr_set_job_add_sets(job, 1, targets + s, &target, 1, &out, 1) == GDR_OK);
    CHECK(gdr_set_job_add_sources_at(job, 1, all, (size_t)count, places + lists[s], n, in, 2) ==
          GDR_OK);
    CHECK(gdr_set_job_add_sources(job, 1, ranges + s, n, in, 2) == GDR_OK);
  }
  CHECK(gdr_set_job_run(job) == GDR_OK);
  check_forces(0.5, 1, 1);
  gdr_set_job_free(job);
}

/* Vectors: the bits of a job for each set, and accelerations of a direct sum. */
static void test_vectors(gdr_device* device) {
  static double at[n][3], acc[n][3], alone[n][3], near[listed][3], mass[listed];
  gdr_kernel* kernel = NULL;
  gdr_set_job* all = NULL;
  gdr_job* one = NULL;
  gdr_input target, sources[2];
  gdr_result out;
  int s, c;
  int64_t i, j;
  for (i = 0; i < n; ++i)
    for (c = 0; c < 3; ++c) at[i][c] = sin((double)(7 * i + 3 * c));
  CHECK(gdr_kernel_compile(gravity, "gravity", &kernel) == GDR_OK);
  CHECK(gdr_set_job_create(device, kernel, &all) == GDR_OK);
  CHECK(gdr_job_create(device, kernel, &one) == GDR_OK);
  gdr_kernel_free(kernel);
  CHECK(gdr_set_job_set(all, "eps2", 0.01) == GDR_OK && gdr_job_set(one, "eps2", 0.01) == GDR_OK);
  target = input("x", at[0]), sources[0] = input("xs", at[0]), sources[1] = input("m", m);
  out = result("acc", acc[0]);
  CHECK(gdr_set_job_add_sets(all, sets, targets, &target, 1, &out, 1) == GDR_OK);
  CHECK(gdr_set_job_add_sources_at(all, sets, lists, listed, places, n, sources, 2) == GDR_OK);
  CHECK(gdr_set_job_run(all) == GDR_OK);
  for (s = 0; s < sets; ++s) {
    const int64_t first = targets[s], count = lists[s + 1] - lists[s];
    for (j = 0; j < count; ++j) {
      memcpy(near[j], at[places[lists[s] + j]], sizeof near[j]);
      mass[j] = m[places[lists[s] + j]];
    }
    target = input("x", at[first]), out = result("acc", alone[first]);
    sources[0] = input("xs", near[0]), sources[1] = input("m", mass);
    CHECK(gdr_job_sources(one, (size_t)count, sources, 2) == GDR_OK);
    CHECK(gdr_job_targets(one, (size_t)(targets[s + 1] - first), &target, 1) == GDR_OK);
    CHECK(gdr_job_run(one, &out, 1) == GDR_OK);
    for (i = first; i < targets[s + 1]; ++i) {
      double sum[3] = {0, 0, 0}, size = 0, error = 0;
      for (j = 0; j < count; ++j) {
        double r2 = 0.01;
        for (c = 0; c < 3; ++c) r2 += (near[j][c] - at[i][c]) * (near[j][c] - at[i][c]);
        for (c = 0; c < 3; ++c) sum[c] += mass[j] / (r2 * sqrt(r2)) * (near[j][c] - at[i][c]);
        size += fabs(mass[j]) / r2;
      }
      for (c = 0; c < 3; ++c) error += fabs(acc[i][c] - sum[c]);
      CHECK(error <= 1e-6 * size);
    }
  }
  CHECK(memcmp(acc, alone, sizeof acc) == 0);
  gdr_set_job_free(all);
  gdr_job_free(one);
}

/* Vectors of `param`s, and a kernel that set jobs do not run. */
static void test_params(gdr_device* device) {
  const double b[3] = {1, 0, 2}, at[3] = {0, 1, 2}, one[3] = {1, 1, 1};
  const int64_t offsets[2] = {0, 1};
  double f[3];
  gdr_kernel* kernel = NULL;
  gdr_set_job* job = NULL;
  const gdr_input target = input("x", at), source = input("xs", one);
  const gdr_result out = result("f", f);
  CHECK(gdr_kernel_compile("CONST vec3 b; VARI vec3 x; VARJ vec3 xs; VARF vec3 f;\n"
                           "f += dot(b, xs - x)*b;\n",
                           "along", &kernel) == GDR_OK);
  CHECK(gdr_set_job_create(device, kernel, &job) == GDR_OK);
  gdr_kernel_free(kernel);
  CHECK(gdr_set_job_set_values(job, "b", 3, b) == GDR_OK);
  CHECK(gdr_set_job_set_values(job, "b", 2, b) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_set_values(job, "b", 3, NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_add_sets(job, 1, offsets, &target, 1, &out, 1) == GDR_OK);
  CHECK(gdr_set_job_add_sources(job, 1, offsets, 1, &source, 1) == GDR_OK);
  CHECK(gdr_set_job_run(job) == GDR_OK);
  CHECK(f[0] == -1 && f[1] == 0 && f[2] == -2);
  gdr_set_job_free(job);
}

/* Invalid arguments: a status and a message each; what was added before stays. */
static void test_errors(gdr_device* device) {
  const int64_t negative[2] = {-1, 3}, falling[3] = {0, 3, 2}, long_lists[2] = {0, listed + 1};
  const int64_t five[6] = {0};
  const int32_t outside[1] = {n}, below[1] = {-1};
  const int64_t first[2] = {0, 1};
  gdr_set_job* job = spring_job(device);
  gdr_input in[2], target = input("xi", x);
  gdr_result out = result("force", force);
  in[0] = input("xj", x), in[1] = input("mj", m);
  CHECK(gdr_set_job_add_sources(job, 1, first, n, in, 2) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "as many sets, but there are 0") != NULL);
  CHECK(gdr_set_job_add_sets(job, 1, negative, &target, 1, &out, 1) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "offsets[0] is -1") != NULL);
  CHECK(gdr_set_job_add_sets(job, 2, falling, &target, 1, &out, 1) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "offsets[2] is 2, less than") != NULL);
  CHECK(gdr_set_job_add_sets(job, (size_t)-1, falling, &target, 1, &out, 1) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_add_sets(job, 1, NULL, &target, 1, &out, 1) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "'offsets'") != NULL);
  CHECK(gdr_set_job_add_sets(job, 1, first, NULL, 1, &out, 1) == GDR_ERROR_USAGE);
  target.type = (gdr_type)17;
  CHECK(gdr_set_job_add_sets(job, 1, first, &target, 1, &out, 1) == GDR_ERROR_USAGE);
  target.type = GDR_F64;
  add_targets(job);
  CHECK(gdr_set_job_add_sources(job, 5, five, n, in, 2) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_add_sources_at(job, 1, long_lists, listed, places, n, in, 2) ==
        GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "offsets[1] is 8, but the lists have 7 entries") != NULL);
  CHECK(gdr_set_job_add_sources_at(job, 1, first, (size_t)-1, places, n, in, 2) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_add_sources_at(job, 1, first, 1, NULL, n, in, 2) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_add_sources_at(job, 1, first, 1, places, (size_t)-1, in, 2) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_run(job) == GDR_OK);
  check_forces(0, 0, 0);

  CHECK(gdr_set_job_add_sources_at(job, 1, first, 1, outside, n, in, 2) == GDR_OK);
  CHECK(gdr_set_job_run(job) == GDR_ERROR_INPUT);
  CHECK(strstr(gdr_last_error(), "set 3, segment 0: index[0] is 90, but the arrays have 90") !=
        NULL);
  CHECK(gdr_set_job_clear(job) == GDR_OK);
  add_targets(job);
  CHECK(gdr_set_job_add_sources_at(job, 1, first, 1, below, n, in, 2) == GDR_OK);
  CHECK(gdr_set_job_run(job) == GDR_ERROR_INPUT);
  CHECK(gdr_set_job_clear(job) == GDR_OK);
  add_targets(job);
  CHECK(gdr_set_job_add_sources(job, 1, first, n, in, 1) == GDR_OK);
  CHECK(gdr_set_job_run(job) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(),
               "set 3, segment 0: no array is given for source variable \"mj\"") != NULL);
  CHECK(gdr_set_job_clear(job) == GDR_OK);
  add_targets(job);
  CHECK(gdr_set_job_add_sources(job, sets, ranges, n, in, 2) == GDR_OK);
  m[60] = (double)NAN;
  CHECK(gdr_set_job_run(job) == GDR_ERROR_INPUT);
  CHECK(strstr(gdr_last_error(), "set 3, segment 0: \"mj\"[60] is not a number") != NULL);
  m[60] = 1;
  CHECK(gdr_set_job_run(job) == GDR_OK);
  check_forces(0.5, 0, 1);
  CHECK(gdr_set_job_set(job, "kk", 1) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_set(job, NULL, 1) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_set(job, "k", (double)NAN) == GDR_ERROR_INPUT);
  gdr_set_job_free(job);
}

/* Kernels with outputs, which have one value for each source. */
static void test_outputs(gdr_device* device) {
  gdr_kernel* kernel = NULL;
  gdr_set_job* job = NULL;
  CHECK(gdr_kernel_load(REACTION, &kernel) == GDR_OK);
  CHECK(gdr_set_job_create(device, kernel, &job) == GDR_ERROR_UNSUPPORTED && job == NULL);
  CHECK(strstr(gdr_last_error(), "outputs") != NULL);
  gdr_kernel_free(kernel);
}

static void test_nulls(gdr_device* device) {
  const int64_t offsets[2] = {0, 0};
  gdr_set_job* job = NULL;
  CHECK(gdr_set_job_create(device, NULL, &job) == GDR_ERROR_USAGE && job == NULL);
  CHECK(gdr_set_job_create(NULL, NULL, &job) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_create(device, NULL, NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_set(NULL, "k", 1) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_set_values(NULL, "k", 0, NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_clear(NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_add_sets(NULL, 1, offsets, NULL, 0, NULL, 0) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_add_sources(NULL, 1, offsets, 0, NULL, 0) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_add_sources_at(NULL, 1, offsets, 0, NULL, 0, NULL, 0) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_run(NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_start(NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_wait(NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_set_job_ready(NULL) == 1);
  gdr_set_job_free(NULL);
}

int main(void) {
  static const char* const names[] = {"emulator:engine=native,threads=2",
                                      "exact:threads=1,chips=2,blocks=2,pes=3"};
  int k, i;
  for (k = 0; k < 2; ++k) {
    gdr_device* device = NULL;
    CHECK(gdr_device_open(names[k], &device) == GDR_OK);
    for (i = 0; i < n; ++i) x[i] = (double)(i * i % 31) / 8, m[i] = (double)(i % 5) / 4;
    test_lists(device);
    test_single_sets(device);
    test_vectors(device);
    test_params(device);
    test_errors(device);
    test_outputs(device);
    test_nulls(device);
    gdr_device_close(device);
  }
  return failures;
}
