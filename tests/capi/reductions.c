/* Reductions other than sums in the C interface, in jobs and sets; adjoint kernels; complex
 * numbers: plain loops are the reference. */
#include <gdr.h>
#include <math.h>
#include <string.h>

#include "check.h"

enum { n = 23, m = 150, k = 64, sets = 4 };
static double x[n], y[m], v[m];
static int64_t id[m];

static int has(const char* part) { return strstr(gdr_last_error(), part) != NULL; }

static gdr_input input(const char* name, const void* data, gdr_type type) {
  gdr_input in;
  in.name = name, in.data = data, in.type = type, in.stride = 0;
  return in;
}

static gdr_result result(const char* name, void* data, gdr_type type) {
  gdr_result out;
  out.name = name, out.data = data, out.type = type, out.stride = 0;
  return out;
}

/* Distances are multiples of 1/8, so that many are equal; their order is that of a stable sort. */
static void fill(void) {
  int i, j;
  for (i = 0; i < n; ++i) x[i] = (i * 37 % 19 - 9) / 8.0;
  for (j = 0; j < m; ++j) {
    y[j] = (j * 53 % 41 - 20) / 8.0;
    v[j] = (j * 29 % 17) / 4.0 - 2;
    id[j] = 1000 + j;
  }
}

static gdr_kernel* compiled(const char* text) {
  gdr_kernel* kernel = NULL;
  CHECK(gdr_kernel_compile(text, "law", &kernel) == GDR_OK);
  return kernel;
}

/* A kernel of targets x and sources y, v, id; its results. */
static void run(gdr_device* device, const gdr_kernel* kernel, size_t sources,
                const gdr_result* results, size_t count) {
  const gdr_input targets = input("x", x, GDR_F64);
  gdr_input given[3];
  gdr_job* job = NULL;
  given[0] = input("y", y, GDR_F64), given[1] = input("v", v, GDR_F64);
  given[2] = input("id", id, GDR_I64);
  CHECK(gdr_job_create(device, kernel, &job) == GDR_OK);
  CHECK(gdr_job_targets(job, n, &targets, 1) == GDR_OK);
  CHECK(gdr_job_sources(job, sources, given, 3) == GDR_OK);
  CHECK(gdr_job_run(job, results, count) == GDR_OK);
  gdr_job_free(job);
}

/* The ranks of target i among the sources first to last: insertion into a sorted list. Keys of no
 * number, those of a distance of 0, have none. */
static void check_ranks(int i, int first, int last, const double* near, const int64_t* which) {
  double key[k];
  int64_t index[k];
  int j, at;
  for (at = 0; at < k; ++at) key[at] = INFINITY, index[at] = -1;
  for (j = first; j < last; ++j) {
    const double d = y[j] - x[i];
    if (d == 0 || !(d * d < key[k - 1])) continue;
    for (at = k - 1; at > 0 && d * d < key[at - 1]; --at) {
      key[at] = key[at - 1], index[at] = index[at - 1];
    }
    key[at] = d * d, index[at] = id[j];
  }
  for (at = 0; at < k; ++at) CHECK(near[at] == key[at] && which[at] == index[at]);
}

static const char* const ranks =
    "precision long; VARI x; VARJ y, v; VARJ int id; VARF near[64]; VARF int which[64];\n"
    "d = y - x; near smallest= d*d*(d/d) : which = id;\n";

static void test_ranks(gdr_device* device) {
  static const int counts[4] = {m, 1, 0, 63};
  static double near[n][k];
  static int64_t which[n][k];
  gdr_kernel* kernel = compiled(ranks);
  gdr_result results[2];
  int c, i;
  results[0] = result("near", near, GDR_F64), results[1] = result("which", which, GDR_I64);
  for (c = 0; c < 4; ++c) {
    run(device, kernel, (size_t)counts[c], results, 2);
    for (i = 0; i < n; ++i) check_ranks(i, 0, counts[c], near[i], which[i]);
  }
  gdr_kernel_free(kernel);
}

static void test_ranks_of_sets(gdr_device* device) {
  static const int64_t targets[sets + 1] = {0, 5, 5, 20, n}, sources[sets + 1] = {0, 70, 90, 90, m};
  static double near[n][k];
  static int64_t which[n][k];
  const gdr_input target = input("x", x, GDR_F64);
  gdr_kernel* kernel = compiled(ranks);
  gdr_set_job* job = NULL;
  gdr_input given[3];
  gdr_result results[2];
  int s, i;
  results[0] = result("near", near, GDR_F64), results[1] = result("which", which, GDR_I64);
  given[0] = input("y", y, GDR_F64), given[1] = input("v", v, GDR_F64);
  given[2] = input("id", id, GDR_I64);
  CHECK(gdr_set_job_create(device, kernel, &job) == GDR_OK);
  CHECK(gdr_set_job_add_sets(job, sets, targets, &target, 1, results, 2) == GDR_OK);
  CHECK(gdr_set_job_add_sources(job, sets, sources, m, given, 3) == GDR_OK);
  CHECK(gdr_set_job_run(job) == GDR_OK);
  for (s = 0; s < sets; ++s)
    for (i = (int)targets[s]; i < targets[s + 1]; ++i)
      check_ranks(i, (int)sources[s], (int)sources[s + 1], near[i], which[i]);
  gdr_set_job_free(job);
  gdr_kernel_free(kernel);
}

static const char* const others =
    "precision long; VARI x; VARJ y, v; VARJ int id;\n"
    "VARF l, mean, p, least; VARF int any, all, which;\n"
    "d = y - x; l logsumexp= 400*d : mean = v; p *= 1 + 0.01*d;\n"
    "any or= d > 2.5; all and= d < 2.5; least min= d*d - 1 : which = id;\n";

static void test_other_reductions(gdr_device* device) {
  static const int counts[3] = {m, 1, 0};
  double l[n], mean[n], p[n], least[n];
  int64_t any[n], all[n], which[n];
  gdr_kernel* kernel = compiled(others);
  gdr_result out[7];
  int c, i, j;
  out[0] = result("l", l, GDR_F64), out[1] = result("mean", mean, GDR_F64);
  out[2] = result("p", p, GDR_F64), out[3] = result("least", least, GDR_F64);
  out[4] = result("any", any, GDR_I64), out[5] = result("all", all, GDR_I64);
  out[6] = result("which", which, GDR_I64);
  for (c = 0; c < 3; ++c) {
    run(device, kernel, (size_t)counts[c], out, 7);
    for (i = 0; i < n; ++i) {
      double top = -INFINITY, sum = 0, weighted = 0, product = 1, low = INFINITY;
      int64_t some = 0, every = 1, place = -1;
      for (j = 0; j < counts[c]; ++j) top = fmax(top, 400 * (y[j] - x[i]));
      for (j = 0; j < counts[c]; ++j) {
        const double d = y[j] - x[i], share = exp(400 * d - top);
        sum += share, weighted += share * v[j], product *= 1 + 0.01 * d;
        if (d > 2.5) some = 1;
        if (!(d < 2.5)) every = 0;
        if (d * d - 1 < low) low = d * d - 1, place = id[j];
      }
      CHECK(any[i] == some && all[i] == every && which[i] == place && least[i] == low);
      CHECK(fabs(p[i] - product) <= 1e-12 * fabs(product));
      if (counts[c] == 0) {
        CHECK(l[i] == -INFINITY && mean[i] == 0);
      } else {
        CHECK(fabs(l[i] - (top + log(sum))) <= 1e-12 * (1 + fabs(l[i])));
        CHECK(fabs(mean[i] - weighted / sum) <= 1e-12);
      }
    }
  }
  gdr_kernel_free(kernel);
}

/* S = sum of g f with f = sum of v exp(-a (x - y)^2): its derivatives by x, and by y and a. */
static void test_adjoint(gdr_device* device) {
  static double g[n], bar[m], a_bar[m];
  static const char* const text =
      "CONST a; VARI x; VARJ y, v; VARF f; precision long;\n"
      "d = x - y; f += v*exp(-a*d*d);\n";
  gdr_kernel *law = compiled(text), *by_x = NULL, *by_y = NULL;
  gdr_job* job = NULL;
  gdr_input near[2], far[2];
  gdr_result out[2];
  const double a = 0.75;
  double total = 0, expected = 0;
  int i, j;
  for (i = 0; i < n; ++i) g[i] = (i % 5) / 4.0 - 0.4;
  near[0] = input("x", x, GDR_F64), near[1] = input("f_bar", g, GDR_F64);
  far[0] = input("y", y, GDR_F64), far[1] = input("v", v, GDR_F64);
  CHECK(gdr_kernel_adjoint(law, "x", &by_x) == GDR_OK);
  CHECK(strcmp(gdr_kernel_name(by_x), "law_adjoint") == 0);
  out[0] = result("x_bar", bar, GDR_F64);
  CHECK(gdr_job_create(device, by_x, &job) == GDR_OK && gdr_job_set(job, "a", a) == GDR_OK);
  CHECK(gdr_job_targets(job, n, near, 2) == GDR_OK && gdr_job_sources(job, m, far, 2) == GDR_OK);
  CHECK(gdr_job_run(job, out, 1) == GDR_OK);
  gdr_job_free(job);
  for (i = 0; i < n; ++i) {
    double sum = 0, size = 0;
    for (j = 0; j < m; ++j) {
      const double d = x[i] - y[j], term = -2 * a * d * g[i] * v[j] * exp(-a * d * d);
      sum += term, size += fabs(term);
    }
    CHECK(fabs(bar[i] - sum) <= 1e-12 * size);
  }
  /* The sources are the targets of this one. */
  CHECK(gdr_kernel_adjoint(law, "y, a", &by_y) == GDR_OK);
  out[0] = result("y_bar", bar, GDR_F64), out[1] = result("a_bar", a_bar, GDR_F64);
  CHECK(gdr_job_create(device, by_y, &job) == GDR_OK && gdr_job_set(job, "a", a) == GDR_OK);
  CHECK(gdr_job_targets(job, m, far, 2) == GDR_OK && gdr_job_sources(job, n, near, 2) == GDR_OK);
  CHECK(gdr_job_run(job, out, 2) == GDR_OK);
  gdr_job_free(job);
  for (j = 0; j < m; ++j) {
    double sum = 0, size = 0;
    for (i = 0; i < n; ++i) {
      const double d = x[i] - y[j], term = g[i] * v[j] * exp(-a * d * d);
      sum += 2 * a * d * term, size += fabs(2 * a * d * term);
      expected -= d * d * term;
    }
    total += a_bar[j];
    CHECK(fabs(bar[j] - sum) <= 1e-12 * size + 1e-300);
  }
  CHECK(fabs(total - expected) <= 1e-11 * fabs(expected));
  gdr_kernel_free(by_x);
  gdr_kernel_free(by_y);

  CHECK(gdr_kernel_adjoint(law, "z", &by_x) == GDR_ERROR_USAGE && by_x == NULL);
  CHECK(has("has no variable \"z\""));
  CHECK(gdr_kernel_adjoint(law, "x,y", &by_x) == GDR_ERROR_USAGE && has("adjoints of their own"));
  CHECK(gdr_kernel_adjoint(law, " , ", &by_x) == GDR_ERROR_USAGE && has("no variable is given"));
  CHECK(gdr_kernel_adjoint(law, NULL, &by_x) == GDR_ERROR_USAGE && has("'variables'"));
  CHECK(gdr_kernel_adjoint(NULL, "x", &by_x) == GDR_ERROR_USAGE && has("'kernel'"));
  CHECK(gdr_kernel_adjoint(law, "x", NULL) == GDR_ERROR_USAGE && has("'adjoint'"));
  gdr_kernel_free(law);
}

/* Numbers re, im, re, im of a wave, as `double complex` has them. */
static void test_complex(gdr_device* device) {
  static double q[m][2], u[n][2];
  const gdr_input targets = input("x", x, GDR_F64);
  const gdr_result out = result("u", u, GDR_F64);
  gdr_kernel* kernel = compiled(
      "precision long; VARI x; VARJ y; VARJ complex q; VARF complex u;\n"
      "u += q*exp(complex(0, 3*abs(y - x)));\n");
  gdr_input sources[2];
  gdr_job* job = NULL;
  int i, j;
  for (j = 0; j < m; ++j) q[j][0] = v[j], q[j][1] = 0.25 * y[j];
  sources[0] = input("y", y, GDR_F64), sources[1] = input("q", q, GDR_F64);
  CHECK(gdr_job_create(device, kernel, &job) == GDR_OK);
  CHECK(gdr_job_targets(job, n, &targets, 1) == GDR_OK);
  CHECK(gdr_job_sources(job, m, sources, 2) == GDR_OK);
  CHECK(gdr_job_run(job, &out, 1) == GDR_OK);
  for (i = 0; i < n; ++i) {
    double re = 0, im = 0;
    for (j = 0; j < m; ++j) {
      const double angle = 3 * fabs(y[j] - x[i]);
      re += q[j][0] * cos(angle) - q[j][1] * sin(angle);
      im += q[j][0] * sin(angle) + q[j][1] * cos(angle);
    }
    CHECK(fabs(u[i][0] - re) <= 1e-10 && fabs(u[i][1] - im) <= 1e-10);
  }
  gdr_job_free(job);
  gdr_kernel_free(kernel);
}

int main(void) {
  static const char* const devices[] = {"emulator:engine=native,threads=2",
                                        "emulator:threads=1,chips=2,blocks=2,pes=3"};
  int d;
  for (d = 0; d < 2; ++d) {
    gdr_device* device = NULL;
    CHECK(gdr_device_open(devices[d], &device) == GDR_OK);
    fill();
    test_ranks(device);
    test_ranks_of_sets(device);
    test_other_reductions(device);
    test_adjoint(device);
    test_complex(device);
    gdr_device_close(device);
  }
  return failures != 0;
}
