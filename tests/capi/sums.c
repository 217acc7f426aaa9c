/* Sums of any law with a tree, Ewald sums and SPH in the C interface: plain sums, published values,
 * and errors. */
#include <gdr.h>
#include <math.h>
#include <string.h>

#include "check.h"

enum { n = 900, m = 40 };
static double x[3 * n], at[3 * m], q[n], u[n], sums[n];

static int has(const char* part) { return strstr(gdr_last_error(), part) != NULL; }

static double distance2(const double* a, const double* b) {
  const double dx = a[0] - b[0], dy = a[1] - b[1], dz = a[2] - b[2];
  return dx * dx + dy * dy + dz * dz;
}

static const char* const screened =
    "kernel screened; precision long;\n"
    "VARI xi, yi, zi as pos; VARI int idi as id;\n"
    "VARJ xj, yj, zj as pos; VARJ qj; VARJ int idj as id;\n"
    "VARF u; CONST k;\n"
    "dx = xj - xi; dy = yj - yi; dz = zj - zi;\n"
    "skip if (idi == idj);\n"
    "r2 = dx*dx + dy*dy + dz*dz + 0.01; rinv = rsqrt(r2); u += qj*exp(-(k*(r2*rinv)))*rinv;\n";

static gdr_input input(const char* name, const void* data, gdr_type type) {
  gdr_input in;
  in.name = name, in.data = data, in.type = type, in.stride = 0;
  return in;
}

/* Root mean square of the error relative to that of the potential, of plain sums at some places. */
static double error_of_sums(int places, const double* place, int same) {
  double wrong = 0, all = 0;
  int i, j;
  for (i = 0; i < places; ++i) {
    sums[i] = 0;
    for (j = 0; j < n; ++j) {
      const double r = sqrt(distance2(place + 3 * i, x + 3 * j) + 0.01);
      if (!same || i != j) sums[i] += q[j] * exp(-0.5 * r) / r;
    }
    wrong += (u[i] - sums[i]) * (u[i] - sums[i]);
    all += sums[i] * sums[i];
  }
  return sqrt(wrong / all);
}

static void test_tree_sums(gdr_device* device) {
  static int64_t other[m], ids[n];
  const gdr_input charge = input("qj", q, GDR_F64);
  gdr_input sources[2], target;
  gdr_kernel* kernel = NULL;
  gdr_tree_sum* sum = NULL;
  gdr_tree_sum_options options;
  gdr_tree_sum_report report;
  gdr_result out;
  int i;
  out.name = "u", out.data = u, out.type = GDR_F64, out.stride = 0;
  CHECK(gdr_kernel_compile(screened, "screened", &kernel) == GDR_OK);
  memset(&options, 0, sizeof options);
  options.degree = 4, options.theta = 0.5, options.group_size = 32;
  CHECK(gdr_tree_sum_create(device, kernel, &options, sizeof options, &sum) == GDR_OK);
  CHECK(strcmp(gdr_tree_sum_charges(sum), "qj") == 0);
  CHECK(gdr_tree_sum_set(sum, "k", 0.5) == GDR_OK);
  CHECK(gdr_tree_sum_run(sum, n, x, &charge, 1, NULL, 0, &out, 1, &report, sizeof report) ==
        GDR_OK);
  CHECK(report.degree == 4 && report.groups > 1 && report.samples >= 256);
  CHECK(error_of_sums(n, x, 1) < 1e-3 && report.error > 0 && report.error < 1e-3);
  CHECK(strcmp(gdr_tree_sum_reason(sum), "") == 0);
  for (i = 0; i < n; ++i) ids[i] = i;
  for (i = 0; i < m; ++i) other[i] = -1;
  sources[0] = charge, sources[1] = input("idj", ids, GDR_I64),
  target = input("idi", other, GDR_I64);
  CHECK(gdr_tree_sum_run_on(sum, m, at, &target, 1, n, x, sources, 2, &out, 1, NULL, 0) == GDR_OK);
  CHECK(error_of_sums(m, at, 0) < 1e-3);
  CHECK(gdr_tree_sum_run(sum, 0, NULL, &charge, 1, NULL, 0, &out, 1, NULL, 0) == GDR_OK);
  CHECK(strstr(gdr_tree_sum_reason(sum), "no particles") != NULL);

  CHECK(gdr_tree_sum_set(sum, "kk", 1) == GDR_ERROR_USAGE);
  CHECK(gdr_tree_sum_set_values(sum, "k", 1, NULL) == GDR_ERROR_USAGE && has("'values'"));
  CHECK(gdr_tree_sum_run(sum, n, NULL, &charge, 1, NULL, 0, &out, 1, NULL, 0) == GDR_ERROR_USAGE);
  CHECK(gdr_tree_sum_run(sum, (size_t)-2, x, &charge, 1, NULL, 0, &out, 1, NULL, 0) ==
        GDR_ERROR_USAGE);
  CHECK(gdr_tree_sum_run(sum, n, x, NULL, 0, NULL, 0, &out, 1, NULL, 0) == GDR_ERROR_USAGE);
  CHECK(has("qj"));
  x[4] = NAN;
  CHECK(gdr_tree_sum_run(sum, n, x, &charge, 1, NULL, 0, &out, 1, NULL, 0) == GDR_ERROR_INPUT);
  CHECK(has("pos[1], coordinate 1"));
  x[4] = 0.5;
  gdr_tree_sum_free(sum);

  CHECK(gdr_tree_sum_create(device, kernel, NULL, 0, &sum) == GDR_OK);
  CHECK(gdr_tree_sum_set(sum, "k", 0.5) == GDR_OK);
  CHECK(gdr_tree_sum_run(sum, n, x, &charge, 1, NULL, 0, &out, 1, &report, sizeof report.degree) ==
        GDR_OK);
  CHECK(report.degree == 0 && error_of_sums(n, x, 1) < 1e-12);
  CHECK(strstr(gdr_tree_sum_reason(sum), "few particles") != NULL);
  gdr_tree_sum_free(sum);
  gdr_tree_sum_free(NULL);
  options.accuracy = 2;
  CHECK(gdr_tree_sum_create(device, kernel, &options, sizeof options, &sum) == GDR_ERROR_USAGE);
  CHECK(sum == NULL && has("accuracy"));
  gdr_kernel_free(kernel);
  CHECK(gdr_kernel_compile("VARI a; VARJ b; VARF c; c += a*b;", "none", &kernel) == GDR_OK);
  CHECK(gdr_tree_sum_create(device, kernel, NULL, 0, &sum) == GDR_ERROR_UNSUPPORTED);
  gdr_kernel_free(kernel);
  CHECK(strcmp(gdr_tree_sum_charges(NULL), "") == 0);
  CHECK(gdr_tree_sum_run(NULL, n, x, &charge, 1, NULL, 0, &out, 1, NULL, 0) == GDR_ERROR_USAGE);
}

/* Rock salt, whose ions are at a distance of 1 from each other: its Madelung constant. */
static void test_ewald(gdr_device* device) {
  const double madelung = 1.7475645946331822, box[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2};
  const double flat[9] = {2, 0, 0, 0, 2, 0, 0, 0, 0};
  double salt[24], charge[8], force[24], energies[8], trace;
  gdr_ewald* ewald = NULL;
  gdr_ewald_options options;
  gdr_ewald_result result;
  int i, c;
  for (i = 0; i < 8; ++i) {
    charge[i] = (i + i / 2 + i / 4) % 2 == 0 ? 1 : -1;
    for (c = 0; c < 3; ++c) salt[3 * i + c] = (i >> c) % 2;
  }
  memset(&options, 0, sizeof options);
  options.accuracy = 1e-12;
  CHECK(gdr_ewald_create(device, &ewald) == GDR_OK);
  CHECK(gdr_ewald_run(ewald, 8, salt, charge, box, &options, sizeof options, force, energies,
                      &result, sizeof result) == GDR_OK);
  trace = result.virial[0] + result.virial[4] + result.virial[8];
  CHECK(fabs(result.energy + 4 * madelung) < 1e-10);
  CHECK(fabs(trace - result.energy) < 1e-9 && fabs(result.virial[1]) < 1e-10);
  for (i = 0; i < 8; ++i) CHECK(fabs(energies[i] + madelung / 2) < 1e-10);
  for (i = 0; i < 24; ++i) CHECK(fabs(force[i]) < 1e-9);
  CHECK(result.waves > 0 && result.alpha > 0 && result.cutoff > 0 && result.error < 1e-11);
  CHECK(gdr_ewald_run(ewald, 8, salt, charge, box, NULL, 0, NULL, NULL, &result,
                      sizeof result.energy) == GDR_OK);
  CHECK(fabs(result.energy + 4 * madelung) < 1e-3);
  CHECK(gdr_ewald_run(ewald, 0, NULL, NULL, box, NULL, 0, NULL, NULL, &result, sizeof result) ==
        GDR_OK);
  CHECK(result.energy == 0);
  CHECK(gdr_ewald_run(ewald, 8, salt, charge, flat, NULL, 0, force, NULL, &result, sizeof result) ==
        GDR_ERROR_INPUT);
  CHECK(gdr_ewald_run(ewald, 8, salt, charge, NULL, NULL, 0, force, NULL, &result, sizeof result) ==
        GDR_ERROR_USAGE);
  CHECK(has("'vectors'"));
  CHECK(gdr_ewald_run(ewald, 8, salt, NULL, box, NULL, 0, force, NULL, &result, sizeof result) ==
        GDR_ERROR_USAGE);
  CHECK(has("'charge'"));
  options.alpha = -1;
  CHECK(gdr_ewald_run(ewald, 8, salt, charge, box, &options, sizeof options, force, NULL, &result,
                      sizeof result) == GDR_ERROR_INPUT);
  gdr_ewald_free(ewald);
  gdr_ewald_free(NULL);
  CHECK(gdr_ewald_create(NULL, &ewald) == GDR_ERROR_USAGE && ewald == NULL);
}

static double spline(double s) {
  const double outer = fmax(2 - s, 0), inner = fmax(1 - s, 0);
  return (0.25 * outer * outer * outer - inner * inner * inner) / 3.141592653589793;
}

static void test_sph(gdr_device* device) {
  static double mass[n], h[n], rho[n], lengths[n], found[n], pressure[n], sound[n], v[3 * n];
  static double acc[3 * n], dudt[n], mumax[n];
  static int64_t near[n];
  const double box[9] = {3, 0, 0, 0, 3, 0, 0, 0, 3};
  double momentum = 0, size = 0;
  gdr_sph* sph = NULL;
  gdr_sph_length_options options;
  unsigned iterations = 0;
  int i, j;
  for (i = 0; i < n; ++i) mass[i] = 1 + 0.5 * q[i], h[i] = 0.2 + 0.1 * q[i];
  for (i = 0; i < n; ++i) pressure[i] = 2 + q[i], sound[i] = 1;
  for (i = 0; i < 3 * n; ++i) v[i] = cos(0.7 * i);
  CHECK(gdr_sph_create(device, &sph) == GDR_OK);
  CHECK(gdr_sph_density(sph, n, x, mass, h, rho, near) == GDR_OK);
  for (i = 0; i < n; ++i) {
    double sum = 0;
    int64_t count = 0;
    for (j = 0; j < n; ++j) {
      const double both = (h[i] + h[j]) / 2, s = sqrt(distance2(x + 3 * i, x + 3 * j)) / both;
      sum += mass[j] * spline(s) / (both * both * both), count += s < 2;
    }
    CHECK(fabs(rho[i] - sum) <= 1e-12 * sum && near[i] == count);
  }
  CHECK(gdr_sph_forces(sph, n, x, mass, h, v, rho, pressure, sound, 1, 2, 0.01, acc, dudt, mumax) ==
        GDR_OK);
  for (i = 0; i < n; ++i) momentum += mass[i] * acc[3 * i], size += mass[i] * fabs(acc[3 * i]);
  CHECK(size > 0 && fabs(momentum) < 1e-11 * size);
  CHECK(gdr_sph_forces(sph, n, x, mass, h, v, rho, pressure, sound, 1, 2, 0.01, NULL, NULL,
                       mumax) == GDR_OK);

  CHECK(gdr_sph_set_box(sph, box, NULL) == GDR_OK);
  memset(&options, 0, sizeof options);
  options.tolerance = 1e-6;
  CHECK(gdr_sph_smoothing_lengths(sph, n, x, mass, 0, NULL, &options, sizeof options, lengths,
                                  found, NULL, &iterations) == GDR_OK);
  CHECK(iterations > 1);
  for (i = 0; i < n; ++i) CHECK(fabs(1.2 * cbrt(mass[i] / found[i]) / lengths[i] - 1) <= 1.001e-6);
  CHECK(gdr_sph_smoothing_lengths(sph, n, x, mass, n, lengths, NULL, 0, h, rho, near,
                                  &iterations) == GDR_OK);
  CHECK(iterations == 1 && memcmp(h, lengths, sizeof h) == 0);
  options.iterations = 1;
  CHECK(gdr_sph_smoothing_lengths(sph, n, x, mass, 0, NULL, &options, sizeof options, h, rho, near,
                                  &iterations) == GDR_ERROR_INPUT);
  CHECK(has("not converged"));
  CHECK(gdr_sph_smoothing_lengths(sph, n, x, mass, 5, lengths, NULL, 0, h, rho, near,
                                  &iterations) == GDR_ERROR_USAGE);
  CHECK(gdr_sph_density(sph, n, x, NULL, h, rho, near) == GDR_ERROR_USAGE && has("'mass'"));
  CHECK(gdr_sph_density(sph, (size_t)-1, x, mass, h, rho, near) == GDR_ERROR_USAGE);
  h[3] = 0;
  CHECK(gdr_sph_density(sph, n, x, mass, h, rho, near) == GDR_ERROR_INPUT && has("h[3] is 0"));
  CHECK(gdr_sph_density(sph, 0, NULL, NULL, NULL, NULL, NULL) == GDR_OK);
  gdr_sph_free(sph);
  gdr_sph_free(NULL);
  CHECK(gdr_sph_density(NULL, 0, NULL, NULL, NULL, NULL, NULL) == GDR_ERROR_USAGE && has("'sph'"));
}

int main(void) {
  gdr_device* device = NULL;
  int i;
  for (i = 0; i < 3 * n; ++i) x[i] = 1.5 + 1.4 * sin(1.9 * i + 0.3 * i * i);
  for (i = 0; i < 3 * m; ++i) at[i] = 3 * cos(2.3 * i);
  for (i = 0; i < n; ++i) q[i] = cos(1.1 * i);
  CHECK(gdr_device_open("emulator:engine=native,threads=2", &device) == GDR_OK);
  test_tree_sums(device);
  test_ewald(device);
  test_sph(device);
  gdr_device_close(device);
  return failures;
}
