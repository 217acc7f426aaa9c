/* The GRAPE-6 interface in plain loops among doubles, for one cluster: what energy errors of client
 * programs with libg6 are compared with. Only the forms for Fortran, from which these clients make
 * C forms of their own, and without checks. */
#include <math.h>
#include <stdlib.h>

struct particle {
  int index;
  double time, mass, snap_18th[3], sixth_j[3], half_a[3], v[3], x[3];
};

static struct particle* particles;
static double (*at)[3], (*moving)[3]; /* predicted */
static int slots, targets;
static double now, *radius2, (*target)[3];
static int *target_index, used;
static double (*acc_of)[3], (*jerk_of)[3], *pot_of;
static int* nearest_of;

int g6_open_(int* id) { return 0 * *id; }
int g6_close_(int* id) { return 0 * *id; }
int g6_npipes_(void) { return 48; }
int g6_set_tunit_(double* unit) { return unit == 0; }
int g6_set_xunit_(double* unit) { return unit == 0; }
int g6_set_ti_(int* id, double* ti) {
  now = *ti;
  return 0 * *id;
}
int g6_reset_(int* id) { return 0 * *id; }
int g6_reset_fofpga_(int* id) { return 0 * *id; }
int g6_initialize_jp_buffer_(int* id, int* size) { return 0 * *id * *size; }
int g6_flush_jp_buffer_(int* id) { return 0 * *id; }

int g6_set_j_particle_(int* id, int* address, int* index, double* tj, double* dtj, double* mass,
                       double a2by18[3], double a1by6[3], double aby2[3], double v[3],
                       double x[3]) {
  if (*address >= slots) {
    slots = 2 * *address + 1024;
    particles = realloc(particles, sizeof *particles * (size_t)slots);
    at = realloc(at, sizeof *at * (size_t)slots);
    moving = realloc(moving, sizeof *moving * (size_t)slots);
  }
  struct particle* p = &particles[*address];
  p->index = *index;
  p->time = *tj;
  p->mass = *mass;
  for (int c = 0; c < 3; ++c) {
    p->snap_18th[c] = a2by18[c];
    p->sixth_j[c] = a1by6[c];
    p->half_a[c] = aby2[c];
    p->v[c] = v[c];
    p->x[c] = x[c];
  }
  (void)dtj;
  return 0 * *id;
}

static void predict(int nj) {
  for (int j = 0; j < nj; ++j) {
    const struct particle* p = &particles[j];
    const double dt = now - p->time;
    for (int c = 0; c < 3; ++c) {
      const double a = p->half_a[c], b = p->sixth_j[c], s = p->snap_18th[c];
      at[j][c] = p->x[c] + dt * (p->v[c] + dt * (a + dt * (b + 0.75 * dt * s)));
      moving[j][c] = p->v[c] + dt * (2 * a + dt * (3 * b + 3 * dt * s));
    }
  }
}

static void sum(int i, const double x[3], const double v[3], double eps2) {
  double acc[3] = {0, 0, 0}, jerk[3] = {0, 0, 0}, pot = 0, least = HUGE_VAL;
  nearest_of[i] = -1;
  for (int j = 0; j < used; ++j) {
    if (particles[j].index == target_index[i]) continue;
    double d[3], w[3], d2 = 0, rv = 0;
    for (int c = 0; c < 3; ++c) {
      d[c] = at[j][c] - x[c];
      w[c] = moving[j][c] - v[c];
      d2 += d[c] * d[c];
      rv += d[c] * w[c];
    }
    if (d2 < least) {
      least = d2;
      nearest_of[i] = particles[j].index;
    }
    const double r2 = d2 + eps2;
    if (r2 == 0) continue;
    const double m_by_r = particles[j].mass / sqrt(r2), f = m_by_r / r2, al = 3 * rv / r2;
    for (int c = 0; c < 3; ++c) {
      acc[c] += f * d[c];
      jerk[c] += f * (w[c] - al * d[c]);
    }
    pot -= m_by_r;
  }
  for (int c = 0; c < 3; ++c) {
    acc_of[i][c] = acc[c];
    jerk_of[i][c] = jerk[c];
  }
  pot_of[i] = pot;
}

void g6calc_firsthalf_(int* id, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                       double fold[][3], double jold[][3], double phiold[], double* eps2,
                       double h2[]) {
  (void)id, (void)fold, (void)jold, (void)phiold;
  if (*ni > targets) {
    targets = *ni;
    radius2 = realloc(radius2, sizeof *radius2 * (size_t)targets);
    target = realloc(target, sizeof *target * (size_t)targets);
    target_index = realloc(target_index, sizeof *target_index * (size_t)targets);
    acc_of = realloc(acc_of, sizeof *acc_of * (size_t)targets);
    jerk_of = realloc(jerk_of, sizeof *jerk_of * (size_t)targets);
    pot_of = realloc(pot_of, sizeof *pot_of * (size_t)targets);
    nearest_of = realloc(nearest_of, sizeof *nearest_of * (size_t)targets);
  }
  used = *nj;
  predict(used);
  for (int i = 0; i < *ni; ++i) {
    for (int c = 0; c < 3; ++c) target[i][c] = xi[i][c];
    target_index[i] = index[i];
    radius2[i] = h2 == 0 ? 0 : h2[i];
    sum(i, xi[i], vi[i], *eps2);
  }
}

int g6calc_lasthalf2_(int* id, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                      double* eps2, double h2[], double acc[][3], double jerk[][3], double pot[],
                      int nearest[]) {
  (void)nj, (void)index, (void)xi, (void)vi, (void)eps2, (void)h2;
  for (int i = 0; i < *ni; ++i) {
    for (int c = 0; c < 3; ++c) {
      acc[i][c] = acc_of[i][c];
      jerk[i][c] = jerk_of[i][c];
    }
    pot[i] = pot_of[i];
    if (nearest != 0) nearest[i] = nearest_of[i];
  }
  return 0 * *id;
}
int g6calc_lasthalf_(int* id, int* nj, int* ni, int index[], double xi[][3], double vi[][3],
                     double* eps2, double h2[], double acc[][3], double jerk[][3], double pot[]) {
  return g6calc_lasthalf2_(id, nj, ni, index, xi, vi, eps2, h2, acc, jerk, pot, 0);
}

static int compare(const void* a, const void* b) {
  const int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

int g6_read_neighbour_list_(int* id) { return 0 * *id; }
int g6_get_neighbour_list_(int* id, int* ipipe, int* maxlength, int* nblen, int nbl[]) {
  int* const found = malloc(sizeof *found * (size_t)(used + 1));
  int n = 0;
  for (int j = 0; j < used; ++j) {
    double d2 = 0;
    for (int c = 0; c < 3; ++c) d2 += pow(at[j][c] - target[*ipipe][c], 2);
    if (d2 < radius2[*ipipe] && particles[j].index != target_index[*ipipe])
      found[n++] = particles[j].index;
  }
  qsort(found, (size_t)n, sizeof *found, compare);
  *nblen = n < *maxlength ? n : *maxlength;
  for (int k = 0; k < *nblen; ++k) nbl[k] = found[k];
  free(found);
  return n > *maxlength ? 1 : 0 * *id;
}
