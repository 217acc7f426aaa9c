/* Sums within a cut-off, gravity with a tree and neighbours in the C interface: plain sums over all
 * pairs and images, and errors. */
#include <gdr.h>
#include <math.h>
#include <string.h>

#include "check.h"

static const char* const charges =
    "kernel charges; precision long;\n"
    "VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos; VARJ qj; CONST k;\n"
    "VARF fx, fy, fz, u; VARF int pairs;\n"
    "dx = xj - xi; dy = yj - yi; dz = zj - zi;\n"
    "w = k*qj*recip(dx*dx + dy*dy + dz*dz + 0.25);\n"
    "fx += w*dx; fy += w*dy; fz += w*dz; u += w; pairs += 1;\n";

enum { n = 61, m = 17 };
static double x[3 * n], at[3 * m], q[n], radius[n], u[n];
static int64_t pairs[n];
/* A box that is not orthorhombic, periodic along two of its edges. */
static const double box[9] = {3, 0, 0, 0.5, 2.5, 0, 0.25, -0.5, 4};
static const int periodic[3] = {1, 1, 0};

static gdr_input input(const char* name, const double* data) {
  gdr_input in;
  in.name = name, in.data = data, in.type = GDR_F64, in.stride = 0;
  return in;
}

static gdr_result result(const char* name, void* data, gdr_type type, ptrdiff_t stride) {
  gdr_result out;
  out.name = name, out.data = data, out.type = type, out.stride = stride;
  return out;
}

static int has(const char* part) { return strstr(gdr_last_error(), part) != NULL; }

/* The number and the potential of the pairs of a target, with the images `reach` boxes away. */
static void plain_sum(const double* target, int own, double r, int reach, double* sum,
                      int64_t* count) {
  int j, a, b, c;
  *sum = 0, *count = 0;
  for (j = 0; j < n; ++j)
    for (a = -reach; a <= reach; ++a)
      for (b = -reach; b <= reach; ++b) {
        double r2 = 0;
        if (j == own && a == 0 && b == 0) continue;
        for (c = 0; c < 3; ++c) {
          const double d = x[3 * j + c] + a * box[c] + b * box[3 + c] - target[c];
          r2 += d * d;
        }
        if (r2 >= r * r) continue;
        *sum += 2 * q[j] / (r2 + 0.25);
        *count += 1;
      }
}

static void check_sums(int targets, const double* target, int same, int several, int reach) {
  int i;
  for (i = 0; i < targets; ++i) {
    double sum;
    int64_t count;
    plain_sum(target + 3 * i, same ? i : -1, several ? radius[i] : 1.25, reach, &sum, &count);
    CHECK(pairs[i] == count);
    CHECK(fabs(u[i] - sum) <= 1e-12 * (1 + fabs(sum)));
  }
}

static const double one_radius = 1.25;

static gdr_pair_sum* new_sum(gdr_device* device, double skin) {
  gdr_kernel* kernel = NULL;
  gdr_pair_sum* sum = NULL;
  CHECK(gdr_kernel_compile(charges, "charges", &kernel) == GDR_OK);
  CHECK(gdr_pair_sum_create(device, kernel, 1.25, skin, 0, &sum) == GDR_OK);
  gdr_kernel_free(kernel);
  CHECK(gdr_pair_sum_set(sum, "k", 2) == GDR_OK);
  return sum;
}

static void test_sums(gdr_device* device) {
  const gdr_input charge = input("qj", q);
  gdr_pair_sum* sum = new_sum(device, -1);
  gdr_pair_statistics statistics;
  gdr_result results[2];
  results[0] = result("u", u, GDR_F64, 0), results[1] = result("pairs", pairs, GDR_I64, 0);
  CHECK(gdr_pair_sum_run(sum, n, x, &charge, 1, NULL, 0, results, 2) == GDR_OK);
  check_sums(n, x, 1, 0, 0);
  CHECK(gdr_pair_sum_set_box(sum, box, periodic) == GDR_OK);
  CHECK(gdr_pair_sum_run(sum, n, x, &charge, 1, NULL, 0, results, 2) == GDR_OK);
  check_sums(n, x, 1, 0, 3);
  CHECK(gdr_pair_sum_run_on(sum, m, at, NULL, 0, n, x, &charge, 1, results, 2) == GDR_OK);
  check_sums(m, at, 0, 0, 3);
  CHECK(gdr_pair_sum_set_cutoff(sum, n, radius) == GDR_OK);
  CHECK(gdr_pair_sum_run(sum, n, x, &charge, 1, NULL, 0, results, 2) == GDR_OK);
  check_sums(n, x, 1, 1, 3);
  CHECK(gdr_pair_sum_run(sum, n, x, &charge, 1, NULL, 0, results, 2) == GDR_OK);
  CHECK(gdr_pair_sum_statistics(sum, &statistics, sizeof statistics) == GDR_OK);
  CHECK(statistics.runs == 5 && statistics.lists_made == 4);
  CHECK(statistics.skin >= 0 && statistics.skin < 1.25);
  CHECK(statistics.groups > 0 && statistics.sources > n && statistics.pairs > n);
  memset(&statistics, 7, sizeof statistics);
  CHECK(gdr_pair_sum_statistics(sum, &statistics, sizeof statistics.runs) == GDR_OK);
  CHECK(statistics.runs == 5 && statistics.lists_made == UINT64_C(0x0707070707070707));
  CHECK(gdr_pair_sum_set_box(sum, NULL, NULL) == GDR_OK);
  CHECK(gdr_pair_sum_run(sum, n, x, &charge, 1, NULL, 0, results, 2) == GDR_OK);
  check_sums(n, x, 1, 1, 0);
  CHECK(gdr_pair_sum_run_on(sum, 0, NULL, NULL, 0, n, x, &charge, 1, results, 2) ==
        GDR_ERROR_USAGE); /* a cut-off for each of n targets */
  CHECK(gdr_pair_sum_set_cutoff(sum, 1, radius) == GDR_OK);
  CHECK(gdr_pair_sum_run_on(sum, 0, NULL, NULL, 0, n, x, &charge, 1, results, 2) == GDR_OK);
  CHECK(gdr_pair_sum_run_on(sum, m, at, NULL, 0, 0, NULL, &charge, 1, results, 2) == GDR_OK);
  CHECK(u[0] == 0 && pairs[m - 1] == 0);
  gdr_pair_sum_free(sum);
}

static void test_errors_of_sums(gdr_device* device) {
  const gdr_input charge = input("qj", q), unknown = input("qk", q);
  const double flat[9] = {1, 0, 0, 2, 0, 0, 0, 0, 1};
  const size_t negative = (size_t)-3;
  double bad[3 * n];
  gdr_kernel* kernel = NULL;
  gdr_pair_sum* sum = NULL;
  gdr_result out = result("u", u, GDR_F64, 0);
  CHECK(gdr_kernel_compile(charges, "charges", &kernel) == GDR_OK);
  CHECK(gdr_pair_sum_create(device, kernel, 0, -1, 0, &sum) == GDR_ERROR_INPUT && sum == NULL);
  CHECK(has("cut-off must be a positive number"));
  CHECK(gdr_pair_sum_create(device, kernel, NAN, -1, 0, &sum) == GDR_ERROR_INPUT);
  CHECK(gdr_pair_sum_create(device, kernel, 1, NAN, 0, &sum) == GDR_ERROR_INPUT);
  CHECK(has("skin"));
  CHECK(gdr_pair_sum_create(NULL, kernel, 1, -1, 0, &sum) == GDR_ERROR_USAGE && has("'device'"));
  CHECK(gdr_pair_sum_create(device, NULL, 1, -1, 0, &sum) == GDR_ERROR_USAGE && has("'kernel'"));
  CHECK(gdr_pair_sum_create(device, kernel, 1, -1, 0, NULL) == GDR_ERROR_USAGE && has("'sum'"));
  gdr_kernel_free(kernel);
  CHECK(gdr_kernel_compile("VARI a; VARJ b; VARF c; c += a*b;", "none", &kernel) == GDR_OK);
  CHECK(gdr_pair_sum_create(device, kernel, 1, -1, 0, &sum) == GDR_ERROR_UNSUPPORTED);
  gdr_kernel_free(kernel);

  sum = new_sum(device, 0);
  CHECK(gdr_pair_sum_set(sum, "kk", 1) == GDR_ERROR_USAGE);
  CHECK(gdr_pair_sum_set_values(sum, "k", 1, NULL) == GDR_ERROR_USAGE && has("'values'"));
  CHECK(gdr_pair_sum_set_box(sum, flat, NULL) == GDR_ERROR_INPUT);
  CHECK(gdr_pair_sum_set_cutoff(sum, 0, NULL) == GDR_OK); /* of no target */
  CHECK(gdr_pair_sum_run(sum, n, x, &charge, 1, NULL, 0, &out, 1) == GDR_ERROR_USAGE);
  CHECK(has("0 cut-offs for"));
  CHECK(gdr_pair_sum_run(sum, 0, NULL, &charge, 1, NULL, 0, &out, 1) == GDR_OK);
  CHECK(gdr_pair_sum_set_cutoff(sum, 1, &one_radius) == GDR_OK);
  CHECK(gdr_pair_sum_set_cutoff(sum, 1, NULL) == GDR_ERROR_USAGE && has("'radius'"));
  CHECK(gdr_pair_sum_run(sum, n, NULL, &charge, 1, NULL, 0, &out, 1) == GDR_ERROR_USAGE);
  CHECK(has("'position'"));
  CHECK(gdr_pair_sum_run(sum, negative, x, &charge, 1, NULL, 0, &out, 1) == GDR_ERROR_USAGE);
  CHECK(gdr_pair_sum_run(sum, n, x, NULL, 1, NULL, 0, &out, 1) == GDR_ERROR_USAGE);
  CHECK(gdr_pair_sum_run(sum, n, x, NULL, 0, NULL, 0, &out, 1) == GDR_ERROR_USAGE && has("qj"));
  CHECK(gdr_pair_sum_run(sum, n, x, &unknown, 1, NULL, 0, &out, 1) == GDR_ERROR_USAGE);
  memcpy(bad, x, sizeof bad);
  bad[3 * 9 + 1] = NAN;
  CHECK(gdr_pair_sum_run(sum, n, bad, &charge, 1, NULL, 0, &out, 1) == GDR_ERROR_INPUT);
  CHECK(has("pos[9], coordinate 1"));
  CHECK(gdr_pair_sum_run(sum, n, x, &charge, 1, NULL, 0, &out, 1) == GDR_OK);
  CHECK(gdr_pair_sum_statistics(sum, NULL, 0) == GDR_ERROR_USAGE);
  gdr_pair_sum_free(sum);
  gdr_pair_sum_free(NULL);
  CHECK(gdr_pair_sum_run(NULL, n, x, &charge, 1, NULL, 0, &out, 1) == GDR_ERROR_USAGE);
  CHECK(has("'sum'"));
}

/* The lengths of two particles, and of another place. */
static void check_softening(gdr_gravity* gravity) {
  static const double pair[6] = {0, 0, 0, 2, 0, 0}, masses[2] = {1, 3}, place[3] = {1, 0, 0};
  static const double eps[2] = {1, 0.5}, own[1] = {0.25};
  double acc[6], pot[2];
  CHECK(gdr_gravity_set_softening(gravity, 2, eps, 0, NULL) == GDR_OK);
  CHECK(gdr_gravity_compute(gravity, 2, pair, masses, 0, acc, pot) == GDR_OK);
  CHECK(fabs(pot[0] + 3 / sqrt(4 + 0.625)) < 1e-7 && fabs(pot[1] + 1 / sqrt(4 + 0.625)) < 1e-7);
  CHECK(fabs(masses[0] * acc[0] + masses[1] * acc[3]) < 1e-12);
  CHECK(gdr_gravity_compute_on(gravity, 1, place, 2, pair, masses, 0, acc, pot) == GDR_OK);
  CHECK(fabs(pot[0] + 1 / sqrt(2) + 3 / sqrt(1.25)) < 1e-7);
  CHECK(gdr_gravity_compute_tree_on(gravity, 1, place, 2, pair, masses, 0, acc, pot, NULL, 0, NULL,
                                    0) == GDR_OK);
  CHECK(fabs(pot[0] + 1 / sqrt(2) + 3 / sqrt(1.25)) < 1e-7);
  CHECK(gdr_gravity_compute(gravity, 2, pair, masses, 0.1, acc, pot) == GDR_ERROR_USAGE);
  CHECK(has("eps must be 0"));
  CHECK(gdr_gravity_set_softening(gravity, 2, eps, 1, own) == GDR_OK);
  CHECK(gdr_gravity_compute_on(gravity, 1, place, 2, pair, masses, 0, acc, pot) == GDR_OK);
  CHECK(fabs(pot[0] + 1 / sqrt(1 + (1 + 0.0625) / 2) + 3 / sqrt(1 + (0.25 + 0.0625) / 2)) < 1e-7);
  CHECK(gdr_gravity_set_softening(gravity, 2, NULL, 0, NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_gravity_set_softening(gravity, 0, NULL, 1, own) == GDR_ERROR_USAGE);
  CHECK(gdr_gravity_set_softening(gravity, 0, NULL, 0, NULL) == GDR_OK);
  CHECK(gdr_gravity_compute(gravity, 2, pair, masses, 1, acc, pot) == GDR_OK);
  CHECK(fabs(pot[0] + 3 / sqrt(5)) < 1e-7);
}

static void test_trees(gdr_device* device) {
  enum { many = 3000 };
  static double place[3 * many], mass[many], acc[3 * many], direct[3 * many];
  gdr_gravity* gravity = NULL;
  gdr_tree_options options;
  gdr_tree_report report;
  double error = 0;
  struct {
    gdr_tree_options known;
    double later;
  } newer;
  int i;
  for (i = 0; i < 3 * many; ++i) place[i] = sin(3.7 * i) + 0.1 * cos(0.01 * i);
  for (i = 0; i < many; ++i) mass[i] = 1.0 / many;
  memset(&options, 0, sizeof options);
  options.accuracy = 1e-4;
  options.method = GDR_TREE_MULTIPOLE;
  CHECK(gdr_gravity_create(device, &gravity) == GDR_OK);
  CHECK(gdr_gravity_compute(gravity, many, place, mass, 0.01, direct, NULL) == GDR_OK);
  CHECK(gdr_gravity_compute_tree(gravity, many, place, mass, 0.01, acc, NULL, &options,
                                 sizeof options, &report, sizeof report) == GDR_OK);
  for (i = 0; i < 3 * many; ++i) error += (acc[i] - direct[i]) * (acc[i] - direct[i]);
  CHECK(report.method == GDR_TREE_MULTIPOLE && report.degree >= 2 && report.theta > 0);
  CHECK(report.error > 0 && report.error <= 1e-4 && report.samples == 256);
  CHECK(report.clusters > 0 && report.groups > 0 && report.sources_per_target < many);
  CHECK(error > 0 && sqrt(error / many) < 1e-3);
  CHECK(gdr_gravity_compute_tree(gravity, many, place, mass, 0.01, acc, NULL, NULL, 0, NULL, 0) ==
        GDR_OK);
  CHECK(memcmp(acc, direct, sizeof acc) == 0); /* few particles: direct sums */
  CHECK(gdr_gravity_compute_tree_on(gravity, 100, place, many, place, mass, 0.01, acc, NULL,
                                    &options, sizeof options, &report,
                                    sizeof report.method) == GDR_OK);
  CHECK(report.method == GDR_TREE_MULTIPOLE);

  memset(&newer, 0, sizeof newer);
  CHECK(gdr_gravity_compute_tree(gravity, many, place, mass, 0.01, acc, NULL, &newer.known,
                                 sizeof newer, NULL, 0) == GDR_OK);
  newer.later = 1;
  CHECK(gdr_gravity_compute_tree(gravity, many, place, mass, 0.01, acc, NULL, &newer.known,
                                 sizeof newer, NULL, 0) == GDR_ERROR_USAGE);
  CHECK(has("does not know"));
  options.accuracy = -1;
  CHECK(gdr_gravity_compute_tree(gravity, many, place, mass, 0.01, acc, NULL, &options,
                                 sizeof options, NULL, 0) == GDR_ERROR_USAGE &&
        has("accuracy"));
  options.accuracy = 1e-4, options.method = (gdr_tree_method)9;
  CHECK(gdr_gravity_compute_tree(gravity, many, place, mass, 0.01, acc, NULL, &options,
                                 sizeof options, NULL, 0) == GDR_ERROR_USAGE &&
        has("method is 9"));
  CHECK(gdr_gravity_compute_tree(gravity, (size_t)-1, place, mass, 0.01, acc, NULL, NULL, 0, NULL,
                                 0) == GDR_ERROR_USAGE);
  CHECK(gdr_gravity_compute_tree(gravity, many, NULL, mass, 0.01, acc, NULL, NULL, 0, NULL, 0) ==
        GDR_ERROR_USAGE);
  CHECK(gdr_gravity_compute_tree(NULL, many, place, mass, 0.01, acc, NULL, NULL, 0, NULL, 0) ==
        GDR_ERROR_USAGE);
  check_softening(gravity);
  gdr_gravity_free(gravity);
}

static void test_neighbours(void) {
  static int64_t offsets[n + 1], indices[n * n * 25], i_of[n * n * 25], shifts[3 * n * n * 25];
  static double differences[3 * n * n * 25];
  int64_t ids[n];
  gdr_neighbours* search = NULL;
  size_t targets = 0, entries = 0, k;
  int i;
  CHECK(gdr_neighbours_create(2, &search) == GDR_OK);
  CHECK(gdr_neighbours_counts(search, &targets, &entries) == GDR_OK && targets == 0);
  CHECK(gdr_neighbours_lists(search, offsets, NULL) == GDR_OK && offsets[0] == 0);
  CHECK(gdr_neighbours_set_box(search, box, periodic) == GDR_OK);
  CHECK(gdr_neighbours_find(search, n, x, n, radius, "") == GDR_OK);
  CHECK(gdr_neighbours_counts(search, &targets, &entries) == GDR_OK && targets == n);
  CHECK(gdr_neighbours_lists(search, offsets, indices) == GDR_OK);
  CHECK(offsets[n] == (int64_t)entries);
  for (i = 0; i < n; ++i) {
    double sum;
    int64_t count;
    plain_sum(x + 3 * i, i, radius[i], 3, &sum, &count);
    CHECK(offsets[i + 1] - offsets[i] == count);
  }
  CHECK(gdr_neighbours_pairs(search, i_of, NULL, NULL, NULL, NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_neighbours_find(search, n, x, n, radius, "iDS") == GDR_OK);
  CHECK(gdr_neighbours_pairs(search, i_of, NULL, NULL, differences, shifts) == GDR_OK);
  for (k = 0; k < entries; ++k) {
    const double* const d = differences + 3 * k;
    CHECK(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < radius[i_of[k]] * radius[i_of[k]]);
    CHECK((int64_t)k >= offsets[i_of[k]] && (int64_t)k < offsets[i_of[k] + 1]);
    CHECK(shifts[3 * k + 2] == 0);
  }
  CHECK(gdr_neighbours_pairs(search, NULL, indices, NULL, NULL, NULL) == GDR_ERROR_USAGE);
  CHECK(has("quantity j"));
  CHECK(gdr_neighbours_lists(search, offsets, indices) == GDR_ERROR_USAGE);

  CHECK(gdr_neighbours_set_box(search, NULL, NULL) == GDR_OK);
  for (i = 0; i < n; ++i) ids[i] = 5;
  CHECK(gdr_neighbours_set_ids(search, n, ids, n, ids) == GDR_OK);
  CHECK(gdr_neighbours_find_on(search, n, x, n, x, n, radius, "") == GDR_OK);
  CHECK(gdr_neighbours_counts(search, &targets, &entries) == GDR_OK && entries == 0);
  CHECK(gdr_neighbours_find_on(search, m, at, n, x, 1, radius, "") == GDR_ERROR_USAGE);
  CHECK(gdr_neighbours_set_ids(search, 0, NULL, 0, NULL) == GDR_OK);
  CHECK(gdr_neighbours_find_on(search, m, at, n, x, 1, radius, "") == GDR_OK);
  CHECK(gdr_neighbours_counts(search, &targets, &entries) == GDR_OK && targets == m);
  CHECK(gdr_neighbours_find(search, n, x, n, radius, "x") == GDR_ERROR_USAGE);
  CHECK(gdr_neighbours_find(search, n, x, n, radius, NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_neighbours_find(search, n, NULL, n, radius, "") == GDR_ERROR_USAGE);
  CHECK(gdr_neighbours_find(search, (size_t)-2, x, n, radius, "") == GDR_ERROR_USAGE);
  radius[3] = -radius[3];
  CHECK(gdr_neighbours_find(search, n, x, n, radius, "") == GDR_ERROR_INPUT);
  radius[3] = -radius[3];
  CHECK(gdr_neighbours_counts(search, NULL, &entries) == GDR_ERROR_USAGE);
  gdr_neighbours_free(search);
  gdr_neighbours_free(NULL);
  CHECK(gdr_neighbours_find(NULL, n, x, n, radius, "") == GDR_ERROR_USAGE && has("'search'"));
  CHECK(gdr_neighbours_create(0, NULL) == GDR_ERROR_USAGE);
}

int main(void) {
  gdr_device* device = NULL;
  int i;
  for (i = 0; i < 3 * n; ++i) x[i] = 4 * sin(1.9 * i + 0.3 * i * i);
  for (i = 0; i < 3 * m; ++i) at[i] = 3 * cos(2.3 * i);
  for (i = 0; i < n; ++i) q[i] = cos(1.1 * i), radius[i] = 0.75 + 0.015 * i;
  CHECK(gdr_device_open("emulator:engine=native,threads=2", &device) == GDR_OK);
  test_sums(device);
  test_errors_of_sums(device);
  test_trees(device);
  test_neighbours();
  gdr_device_close(device);
  return failures;
}
