/* A Lennard-Jones liquid in a periodic box, velocity Verlet at constant energy, with sums within a
 * cut-off; then the potential energy of the same particles under gravity, to an accuracy.
 *   cc -std=c99 lj_liquid.c -lgdr -lm
 */
#include <gdr.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { side = 8, n = side * side * side };
static double x[3 * n], v[3 * n], f[3 * n], u[n];

static void check(gdr_status status) {
  if (status == GDR_OK) return;
  fprintf(stderr, "%s\n", gdr_last_error());
  exit(1);
}

static void compute_forces(gdr_pair_sum* liquid) {
  /* One result of three interleaved ones: the stride is that of a particle, in bytes. */
  const ptrdiff_t triple = 3 * sizeof(double);
  const gdr_result results[] = {{"fx", f, GDR_F64, triple},
                                {"fy", f + 1, GDR_F64, triple},
                                {"fz", f + 2, GDR_F64, triple},
                                {"u", u, GDR_F64, 0}};
  check(gdr_pair_sum_run(liquid, n, x, NULL, 0, NULL, 0, results, 4));
}

/* The energy for each particle; u counts each pair twice. */
static double energy(void) {
  double sum = 0;
  int i;
  for (i = 0; i < 3 * n; ++i) sum += 0.5 * v[i] * v[i];
  for (i = 0; i < n; ++i) sum += 0.5 * u[i];
  return sum / n;
}

int main(void) {
  const double cutoff = 2.5, dt = 0.004, length = side / cbrt(0.8);
  const double edges[9] = {length, 0, 0, 0, length, 0, 0, 0, length};
  static double mass[n], pot[n];
  gdr_device* device;
  gdr_kernel* kernel;
  gdr_pair_sum* liquid;
  gdr_gravity* gravity;
  gdr_pair_statistics statistics;
  gdr_tree_options options = {0};
  gdr_tree_report report;
  double start, end, potential = 0;
  int i, t;
  for (i = 0; i < n; ++i) {
    x[3 * i] = (i % side + 0.5) * length / side;
    x[3 * i + 1] = (i / side % side + 0.5) * length / side;
    x[3 * i + 2] = (i / side / side + 0.5) * length / side;
    mass[i] = 1.0 / n;
  }
  for (i = 0; i < 3 * n; ++i) v[i] = sin(12.9898 * i) + sin(78.233 * i + 1);

  check(gdr_device_open(NULL, &device));
  check(gdr_kernel_builtin("lennard_jones", &kernel));
  check(gdr_pair_sum_create(device, kernel, cutoff, -1, 0, &liquid));
  gdr_kernel_free(kernel);
  check(gdr_pair_sum_set(liquid, "rc2", cutoff * cutoff));
  check(gdr_pair_sum_set_box(liquid, edges, NULL)); /* periodic along all edges */
  compute_forces(liquid);
  start = energy();
  for (t = 0; t < 50; ++t) {
    for (i = 0; i < 3 * n; ++i) v[i] += dt / 2 * f[i];
    for (i = 0; i < 3 * n; ++i) x[i] += dt * v[i]; /* particles may leave the box */
    compute_forces(liquid);
    for (i = 0; i < 3 * n; ++i) v[i] += dt / 2 * f[i];
  }
  end = energy();
  check(gdr_pair_sum_statistics(liquid, &statistics, sizeof statistics));
  printf("energy %.5f, after 50 steps %.5f; %llu lists in %llu runs\n", start, end,
         (unsigned long long)statistics.lists_made, (unsigned long long)statistics.runs);

  options.accuracy = 1e-4;
  check(gdr_gravity_create(device, &gravity));
  check(gdr_gravity_compute_tree(gravity, n, x, mass, 0.1, NULL, pot, &options, sizeof options,
                                 &report, sizeof report));
  for (i = 0; i < n; ++i) potential += 0.5 * mass[i] * pot[i];
  printf("potential energy under gravity %.6f, with %.0f sources per target, error %.1e\n",
         potential, report.sources_per_target, report.error);
  gdr_gravity_free(gravity);
  gdr_pair_sum_free(liquid);
  gdr_device_close(device);
  return fabs(end - start) < 0.05 && potential < 0 ? 0 : 1;
}
