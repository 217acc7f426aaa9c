/* The C interface from C99: every function with valid and with invalid arguments. */
#include <gdr.h>
#include <math.h>
#include <string.h>

#include "check.h"

/* The original library's names are free for a program to define. */
void gdr_init(void);
void gdr_free(void);
int gdrsetboardid(int id);
void gdr_dgemm_(void);
void gdr_init(void) {}
void gdr_free(void) {}
int gdrsetboardid(int id) { return id; }
void gdr_dgemm_(void) {}

static const char* const device_name = "exact:threads=1,chips=2,blocks=2,pes=3";

static const char* const text =
    ".kernel spring\n"
    ".flops 3\n"
    "ivar long xi f64to72\n"
    "jvar long xj mj f64to72\n"
    "param long k f64to72\n"
    "fvar long force f64to72 fadd at $lr24v\n"
    ".start\n"
    "  upass force 0\n"
    ".body\n"
    "  vlen 1\n"
    "  bget $lr0 xj\n"
    "  bget $lr2 mj\n"
    "  bget $lr4 k\n"
    "  vlen 4\n"
    "  fsub $lr8v $lr0 xi\n"
    "  dmul $lr8v $lr8v $lr2\n"
    "  dmul $lr8v $lr8v $lr4\n"
    "  fadd force force $lr8v\n";

enum { n = 40 };

struct particle {
  double x;
  float m;
  double force;
};
static struct particle p[n];

static void check_forces(double k) {
  int i, j;
  for (i = 0; i < n; ++i) {
    double force = 0;
    for (j = 0; j < n; ++j) force += k * (double)p[j].m * (p[j].x - p[i].x);
    CHECK(p[i].force == force);
  }
}

static void test_kernels(void) {
  gdr_kernel* kernel = NULL;
  gdr_variable v;
  double clocks = 0, flops = 0;
  CHECK(gdr_kernel_assemble(text, "spring.gds", &kernel) == GDR_OK);
  CHECK(strcmp(gdr_kernel_name(kernel), "spring") == 0);
  CHECK(gdr_kernel_variable_count(kernel) == 5);
  CHECK(gdr_kernel_variable(kernel, 4, &v) == GDR_OK);
  CHECK(strcmp(v.name, "force") == 0 && v.role == GDR_RESULT && v.type == GDR_F64);
  CHECK(strcmp(v.reduction, "fadd") == 0 && strcmp(v.conversion, "f64to72") == 0);
  CHECK(v.host_bytes == 8);
  CHECK(gdr_kernel_variable(kernel, 5, &v) == GDR_ERROR_USAGE);
  CHECK(gdr_kernel_cost(kernel, &clocks, &flops) == GDR_OK && clocks > 0 && flops == 3);
  gdr_kernel_free(kernel);
  CHECK(gdr_kernel_assemble("nonsense here\n", NULL, &kernel) == GDR_ERROR_PROGRAM);
  CHECK(kernel == NULL && strlen(gdr_last_error()) > 0);
  CHECK(gdr_last_status() == GDR_ERROR_PROGRAM);
  CHECK(gdr_kernel_load("/no/such/file.gds", &kernel) == GDR_ERROR_IO);
  CHECK(gdr_kernel_object("short", 5, &kernel) == GDR_ERROR_PROGRAM);
  CHECK(gdr_kernel_builtin("gravitate", &kernel) == GDR_ERROR_USAGE);
  CHECK(gdr_kernel_assemble(NULL, NULL, &kernel) == GDR_ERROR_USAGE);
  CHECK(gdr_kernel_assemble(text, NULL, NULL) == GDR_ERROR_USAGE);
}

/* Statistics after a run, for callers whose structure has fewer or more members. */
static void test_board_statistics(gdr_device* device) {
  struct {
    gdr_board_statistics known;
    double later;
  } all;
  all.known.overlap_seconds = -1;
  CHECK(gdr_device_board_statistics(device, &all.known,
                                    offsetof(gdr_board_statistics, overlap_seconds)) == GDR_OK);
  CHECK(all.known.overlap_seconds == -1);
  CHECK(all.known.conversion_seconds > 0 && all.known.board_seconds > 0);
  all.later = 7;
  CHECK(gdr_device_board_statistics(device, &all.known, sizeof all) == GDR_OK);
  CHECK(all.known.overlap_seconds >= 0 && all.later == 0);
  CHECK(all.known.transfer_seconds == 0); /* boards of this process need none */
  CHECK(all.known.failed_boards == 0 && all.known.checks == 0);
  CHECK(strcmp(gdr_device_engine(device), "vector") == 0 ||
        strcmp(gdr_device_engine(device), "reference") == 0);
  CHECK(strlen(gdr_device_isa(device)) > 0 && strcmp(gdr_device_fallback_reason(device), "") == 0);
}

static void test_job(gdr_device* device) {
  gdr_kernel* kernel = NULL;
  gdr_job* job = NULL;
  gdr_statistics s;
  size_t slots = 0;
  int i;
  gdr_input sources[2], target;
  gdr_result result;
  for (i = 0; i < n; ++i) {
    p[i].x = (double)(i * i % 31) / 8;
    p[i].m = (float)(i % 5) / 4;
  }
  sources[0].name = "xj", sources[0].data = &p[0].x, sources[0].type = GDR_F64;
  sources[1].name = "mj", sources[1].data = &p[0].m, sources[1].type = GDR_F32;
  sources[0].stride = sources[1].stride = target.stride = result.stride = sizeof p[0];
  target.name = "xi", target.data = &p[0].x, target.type = GDR_F64;
  result.name = "force", result.data = &p[0].force, result.type = GDR_F64;

  CHECK(gdr_kernel_assemble(text, NULL, &kernel) == GDR_OK);
  CHECK(gdr_device_target_slots(device, kernel, &slots) == GDR_OK && slots == 2 * 2 * 3 * 4);
  CHECK(gdr_job_create(device, kernel, &job) == GDR_OK);
  gdr_kernel_free(kernel);
  CHECK(gdr_job_set(job, "k", 0.5) == GDR_OK);
  CHECK(gdr_job_sources(job, n, sources, 2) == GDR_OK);
  CHECK(gdr_job_targets(job, n, &target, 1) == GDR_OK);
  CHECK(gdr_device_reset_statistics(device) == GDR_OK);
  CHECK(gdr_job_run(job, &result, 1) == GDR_OK);
  check_forces(0.5);
  CHECK(gdr_device_statistics(device, &s) == GDR_OK);
  CHECK(s.runs == 1 && s.interactions == n * n && s.flops == 3.0 * n * n && s.chip_clocks > 0);
  test_board_statistics(device);

  p[7].m = 3;
  sources[1].data = &p[7].m;
  CHECK(gdr_job_update_sources(job, 7, 1, sources + 1, 1) == GDR_OK);
  CHECK(gdr_job_start(job, &result, 1) == GDR_OK);
  CHECK(gdr_job_wait(job) == GDR_OK);
  CHECK(gdr_job_ready(job) == 1);
  check_forces(0.5);
  const int32_t place = 7, outside = (int32_t)n;
  CHECK(gdr_job_update_sources_at(job, 1, &place, sources + 1, 1) == GDR_OK);
  CHECK(gdr_job_run(job, &result, 1) == GDR_OK);
  check_forces(0.5);
  CHECK(gdr_job_update_sources_at(job, 1, &outside, sources + 1, 1) == GDR_ERROR_USAGE);
  CHECK(gdr_job_update_sources_at(job, 1, NULL, sources + 1, 1) == GDR_ERROR_USAGE);

  /* invalid arguments: a status and a message each, without side effects */
  CHECK(gdr_job_set(job, "kk", 1) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "\"k\"") != NULL);
  CHECK(gdr_job_set(job, "k", (double)NAN) == GDR_ERROR_INPUT);
  CHECK(gdr_job_set(job, NULL, 1) == GDR_ERROR_USAGE);
  CHECK(gdr_job_set(NULL, "k", 1) == GDR_ERROR_USAGE);
  CHECK(gdr_job_sources(job, n, sources, 1) == GDR_ERROR_USAGE);
  CHECK(gdr_job_sources(job, n, NULL, 1) == GDR_ERROR_USAGE);
  CHECK(gdr_job_update_sources(job, n, 1, sources + 1, 1) == GDR_ERROR_USAGE);
  sources[1].type = (gdr_type)17;
  CHECK(gdr_job_update_sources(job, 0, 1, sources + 1, 1) == GDR_ERROR_USAGE);
  sources[1].type = GDR_RAW, sources[1].stride = 0;
  CHECK(gdr_job_update_sources(job, 0, 1, sources + 1, 1) == GDR_ERROR_USAGE);
  result.name = NULL;
  CHECK(gdr_job_run(job, &result, 1) == GDR_ERROR_USAGE);
  result.name = "force", result.data = NULL;
  CHECK(gdr_job_run(job, &result, 1) == GDR_ERROR_USAGE);
  result.data = &p[0].force;
  CHECK(gdr_job_run(job, &result, 1) == GDR_OK);
  check_forces(0.5);
  gdr_job_free(job);
}

static void test_gravity(gdr_device* device) {
  gdr_gravity* gravity = NULL;
  const double x[6] = {0, 0, 0, 1, 0, 0}, m[2] = {1, 2};
  double bad[6] = {0, 0, 0, 1, 0, 0}, acc[6], pot[2];
  CHECK(gdr_gravity_create(device, &gravity) == GDR_OK);
  CHECK(gdr_gravity_compute(gravity, 2, x, m, 0, acc, pot) == GDR_OK);
  CHECK(fabs(acc[0] - 2) < 1e-6 && fabs(acc[3] + 1) < 1e-6 && acc[1] == 0 && acc[5] == 0);
  CHECK(fabs(pot[0] + 2) < 1e-6 && fabs(pot[1] + 1) < 1e-6);
  CHECK(gdr_gravity_compute_on(gravity, 1, x, 1, x + 3, m, 0, acc, NULL) == GDR_OK);
  CHECK(fabs(acc[0] - 1) < 1e-6);
  bad[4] = (double)INFINITY;
  CHECK(gdr_gravity_compute(gravity, 2, bad, m, 0, acc, pot) == GDR_ERROR_INPUT);
  CHECK(strstr(gdr_last_error(), "particle 1") != NULL);
  CHECK(gdr_gravity_compute(gravity, 2, x, m, -1, acc, pot) == GDR_ERROR_INPUT);
  CHECK(gdr_gravity_compute(gravity, 0, x, m, 0, acc, pot) == GDR_ERROR_INPUT);
  CHECK(gdr_gravity_compute(gravity, 2, NULL, m, 0, acc, pot) == GDR_ERROR_USAGE);
  CHECK(gdr_gravity_compute(NULL, 2, x, m, 0, acc, pot) == GDR_ERROR_USAGE);
  gdr_gravity_free(gravity);
}

/* Neighbours on a line, one apart: lists of two (one at the ends), and rows of 128 ids. */
static void test_neighbours(gdr_device* device) {
  static const char* const at[] = {"xi", "yi", "zi", "vxi", "vyi", "vzi", "hi2", "idi",
                                   "xj", "yj", "zj", "vxj", "vyj", "vzj", "mj",  "idj"};
  enum { ids = 128 };
  static double line[n], zero[n], one[n];
  static int64_t id[n], count[n], list[n][ids];
  gdr_kernel* kernel = NULL;
  gdr_job* job = NULL;
  gdr_input in[16];
  gdr_result out[2];
  int i, k;
  for (i = 0; i < n; ++i) line[i] = i, one[i] = 1.25, id[i] = i;
  for (k = 0; k < 16; ++k) {
    in[k].name = at[k], in[k].stride = 0, in[k].type = k % 8 == 7 ? GDR_I64 : GDR_F64;
    in[k].data = k % 8 == 7 ? (const void*)id : k % 8 == 0 ? line : k % 8 == 6 ? one : zero;
  }
  out[0].name = "near", out[0].data = count, out[0].type = GDR_I64, out[0].stride = 0;
  out[1].name = "near[]", out[1].data = list, out[1].type = GDR_I64, out[1].stride = 0;
  CHECK(gdr_kernel_builtin("gravity_neighbours", &kernel) == GDR_OK);
  CHECK(gdr_job_create(device, kernel, &job) == GDR_OK);
  gdr_kernel_free(kernel);
  CHECK(gdr_job_targets(job, n, in, 8) == GDR_OK);
  CHECK(gdr_job_sources(job, n, in + 8, 8) == GDR_OK);
  CHECK(gdr_job_run(job, out, 2) == GDR_OK);
  for (i = 0; i < n; ++i) {
    CHECK(count[i] == (i == 0 || i == n - 1 ? 1 : 2));
    CHECK(list[i][0] == (i == 0 ? 1 : i - 1));
    CHECK(list[i][1] == (i == 0 || i == n - 1 ? -1 : i + 1));
    CHECK(list[i][ids - 1] == -1);
  }
  out[0].name = "pot[]";
  CHECK(gdr_job_run(job, out, 1) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "without []") != NULL);
  out[0].name = "nearby[]";
  CHECK(gdr_job_run(job, out, 1) == GDR_ERROR_USAGE);
  gdr_job_free(job);
}

/* Without arrays of ids the targets have -1 and the sources -2, in jobs and in set jobs. */
static void test_optional_ids(gdr_device* device) {
  static const double x[3] = {1, 2, 4};
  static const int64_t offsets[2] = {0, 3}, given[3] = {7, 7, 7};
  static int64_t own[3], others[3];
  gdr_kernel* kernel = NULL;
  gdr_job* job = NULL;
  gdr_set_job* sets = NULL;
  gdr_input target = {"xi", x, GDR_F64, 0}, sources[2] = {{"xj", x, GDR_F64, 0}};
  gdr_result results[2] = {{"own", own, GDR_I64, 0}, {"others", others, GDR_I64, 0}};
  int i;
  sources[1].name = "idj", sources[1].data = given, sources[1].type = GDR_I64;
  sources[1].stride = 0;
  CHECK(gdr_kernel_compile("VARI xi; VARI int idi = -1; VARJ xj; VARJ int idj = -2; VARF f;\n"
                           "VARF int own, others; f += xj - xi; own += idi; others += idj;",
                           "ids", &kernel) == GDR_OK);
  CHECK(gdr_job_create(device, kernel, &job) == GDR_OK);
  CHECK(gdr_set_job_create(device, kernel, &sets) == GDR_OK);
  gdr_kernel_free(kernel);
  CHECK(gdr_job_targets(job, 3, &target, 1) == GDR_OK);
  CHECK(gdr_job_sources(job, 3, sources, 1) == GDR_OK);
  CHECK(gdr_job_run(job, results, 2) == GDR_OK);
  for (i = 0; i < 3; ++i) CHECK(own[i] == -3 && others[i] == -6);
  CHECK(gdr_job_sources(job, 3, sources, 2) == GDR_OK);
  CHECK(gdr_job_run(job, results, 2) == GDR_OK);
  for (i = 0; i < 3; ++i) CHECK(own[i] == -3 && others[i] == 21);
  CHECK(gdr_job_sources(job, 3, sources + 1, 1) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "no array is given for source variable \"xj\"") != NULL);
  gdr_job_free(job);
  CHECK(gdr_set_job_add_sets(sets, 1, offsets, &target, 1, results, 2) == GDR_OK);
  CHECK(gdr_set_job_add_sources(sets, 1, offsets, 3, sources, 1) == GDR_OK);
  CHECK(gdr_set_job_add_sources(sets, 1, offsets, 3, sources, 2) == GDR_OK);
  CHECK(gdr_set_job_run(sets) == GDR_OK);
  for (i = 0; i < 3; ++i) CHECK(own[i] == -6 && others[i] == 21 - 6);
  gdr_set_job_free(sets);
}

/* Arrays, vectors, tables and lists as the kernel has them, and the variables of their elements. */
static void test_arrays(void) {
  static const char* const names[] = {"t", "x", "f", "near"};
  static const size_t counts[] = {6, 3, 4, 5}, ranks[] = {1, 1, 2, 1}, last_sizes[] = {6, 3, 2, 5};
  gdr_kernel* kernel = NULL;
  gdr_variable_array a;
  gdr_variable v;
  size_t k;
  CHECK(gdr_kernel_compile(
            "CONST table t[2][3]; VARI vec3 x; VARJ xs; VARJ int id; VARF f[2][2];\n"
            "VARF list near[5];\n"
            "f[0][0] += xs - x.x; f[0][1] += xs; f[1][0] += t[1][id]; f[1][1] += x.y*x.z;\n"
            "if (xs < x.x) { near append= id; }",
            "arrays", &kernel) == GDR_OK);
  CHECK(gdr_kernel_array_count(kernel) == 4);
  for (k = 0; k < 4; ++k) {
    CHECK(gdr_kernel_array(kernel, k, &a) == GDR_OK);
    CHECK(strcmp(a.name, names[k]) == 0 && a.count == counts[k]);
    CHECK(a.rank == ranks[k] && a.sizes[a.rank - 1] == last_sizes[k]);
    CHECK(gdr_kernel_variable(kernel, a.first, &v) == GDR_OK);
    CHECK(strncmp(v.name, a.name, strlen(a.name)) == 0);
    CHECK(gdr_kernel_variable(kernel, a.first + a.count - 1, &v) == GDR_OK);
    CHECK(strncmp(v.name, a.name, strlen(a.name)) == 0);
  }
  CHECK(gdr_kernel_array(kernel, 4, &a) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "has 4 arrays, there is no number 4") != NULL);
  CHECK(gdr_kernel_array(kernel, 0, NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_kernel_array(NULL, 0, &a) == GDR_ERROR_USAGE);
  CHECK(gdr_kernel_array_count(NULL) == 0);
  gdr_kernel_free(kernel);
}

/* A vector of the kernel is one array of three numbers for each item. */
static void test_vectors(gdr_device* device) {
  const double x[2][3] = {{0, 1, 2}, {3, 4, 5}}, xs[1][3] = {{1, 1, 1}}, b[3] = {1, 0, 2};
  double f[2][3];
  gdr_kernel* kernel = NULL;
  gdr_job* job = NULL;
  gdr_input target = {"x", x, GDR_F64, 0}, source = {"xs", xs, GDR_F64, 0};
  gdr_result result = {"f", f, GDR_F64, 0};
  CHECK(gdr_kernel_compile("CONST vec3 b; VARI vec3 x; VARJ vec3 xs; VARF vec3 f;\n"
                           "f += dot(b, xs - x)*b;",
                           "along", &kernel) == GDR_OK);
  CHECK(gdr_job_create(device, kernel, &job) == GDR_OK);
  gdr_kernel_free(kernel);
  CHECK(gdr_job_set_values(job, "b", 3, b) == GDR_OK);
  CHECK(gdr_job_set_values(job, "b", 2, b) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "takes 3 values, not 2") != NULL);
  CHECK(gdr_job_set_values(job, "b", 3, NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_job_sources(job, 1, &source, 1) == GDR_OK);
  CHECK(gdr_job_targets(job, 2, &target, 1) == GDR_OK);
  CHECK(gdr_job_run(job, &result, 1) == GDR_OK);
  CHECK(f[0][0] == -1 && f[0][1] == 0 && f[0][2] == -2);
  CHECK(f[1][0] == -10 && f[1][2] == -20);
  gdr_job_free(job);
}

/* Products need the PEs of the chip. Small whole numbers, so that all sums are exact. */
static void test_matrices(void) {
  enum { rows = 5, columns = 4, inner = 40, ld = 50 };
  static double a[rows * ld], b[inner * ld], c[columns * ld];
  static float fa[rows * ld], fb[inner * ld], fc[columns * ld];
  gdr_device* device = NULL;
  gdr_matrix_product* product = NULL;
  gdr_statistics s;
  uint64_t first = 0, second = 0;
  int i, j, l, pass;
  CHECK(gdr_device_open("exact:chips=1,blocks=1", &device) == GDR_OK);
  CHECK(gdr_matrix_product_create(device, GDR_MATRIX_FULL, &product) == GDR_OK);
  /* op(A) is the transpose of `a`, op(B) that of `b`. */
  for (i = 0; i < rows * ld; ++i) fa[i] = (float)(a[i] = i % 7 - 3);
  for (i = 0; i < inner * ld; ++i) fb[i] = (float)(b[i] = i % 11 - 5);
  for (pass = 0; pass < 4; ++pass) {
    for (i = 0; i < columns * ld; ++i) fc[i] = (float)(c[i] = i);
    if (pass == 3) CHECK(gdr_matrix_product_reuse_b(product) == GDR_OK);
    CHECK(gdr_device_reset_statistics(device) == GDR_OK);
    if (pass == 0)
      CHECK(gdr_matrix_product_sgemm(product, GDR_TRANSPOSE, GDR_TRANSPOSE, rows, columns, inner,
                                     2.0F, fa, ld, fb, ld, -1.0F, fc, ld) == GDR_OK);
    else
      CHECK(gdr_matrix_product_dgemm(product, GDR_TRANSPOSE, GDR_TRANSPOSE, rows, columns, inner, 2,
                                     a, ld, b, ld, -1, c, ld) == GDR_OK);
    CHECK(gdr_device_statistics(device, &s) == GDR_OK);
    first = second;
    second = s.bytes_to_board;
    for (j = 0; j < columns; ++j) {
      for (i = 0; i < ld; ++i) {
        double sum = i + j * ld;
        for (l = 0; i < rows && l < inner; ++l) sum -= 2 * a[l + i * ld] * b[j + l * ld];
        CHECK((pass == 0 ? (double)fc[i + j * ld] : c[i + j * ld]) == (i < rows ? -sum : sum));
      }
    }
  }
  CHECK(first - second == (columns + 1) * 64 * sizeof(double)); /* inner: two parts of 32 */

  CHECK(gdr_matrix_product_dgemm(product, (gdr_transpose)7, GDR_TRANSPOSE, 1, 1, 1, 1, a, 1, b, 1,
                                 0, c, 1) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "'transpose_a' is 7") != NULL);
  CHECK(gdr_matrix_product_sgemm(product, GDR_NO_TRANSPOSE, GDR_NO_TRANSPOSE, 2, 1, 1, 1, fa, 1, fb,
                                 1, 0, fc, 2) == GDR_ERROR_USAGE);
  CHECK(strstr(gdr_last_error(), "leading dimension of A is 1") != NULL);
  CHECK(gdr_matrix_product_dgemm(NULL, GDR_NO_TRANSPOSE, GDR_NO_TRANSPOSE, 1, 1, 1, 1, a, 1, b, 1,
                                 0, c, 1) == GDR_ERROR_USAGE);
  CHECK(gdr_matrix_product_reuse_b(NULL) == GDR_ERROR_USAGE);
  gdr_matrix_product_free(product);
  CHECK(gdr_matrix_product_create(device, (gdr_matrix_precision)2, &product) == GDR_ERROR_USAGE);
  CHECK(product == NULL);
  CHECK(gdr_matrix_product_create(NULL, GDR_MATRIX_CHIP, &product) == GDR_ERROR_USAGE);
  gdr_matrix_product_free(NULL);
  gdr_device_close(device);
}

static void test_nulls(void) {
  gdr_device* device = NULL;
  gdr_job* job = NULL;
  gdr_statistics s;
  gdr_board_statistics b;
  CHECK(gdr_device_open("emulatr", &device) == GDR_ERROR_USAGE && device == NULL);
  CHECK(gdr_device_open("exact", NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_device_statistics(NULL, &s) == GDR_ERROR_USAGE);
  CHECK(gdr_device_board_statistics(NULL, &b, sizeof b) == GDR_ERROR_USAGE);
  CHECK(strcmp(gdr_device_engine(NULL), "") == 0);
  CHECK(gdr_job_create(NULL, NULL, &job) == GDR_ERROR_USAGE);
  CHECK(gdr_gravity_create(NULL, NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_job_wait(NULL) == GDR_ERROR_USAGE);
  CHECK(gdr_job_run(NULL, NULL, 0) == GDR_ERROR_USAGE);
  CHECK(gdr_job_ready(NULL) == 1);
  CHECK(gdr_kernel_variable_count(NULL) == 0);
  CHECK(strcmp(gdr_kernel_name(NULL), "") == 0);
  CHECK(strcmp(gdr_device_description(NULL), "") == 0);
  gdr_device_close(NULL);
  gdr_kernel_free(NULL);
  gdr_job_free(NULL);
  gdr_gravity_free(NULL);
}

int main(void) {
  gdr_device* device = NULL;
  CHECK(strlen(gdr_version()) > 0);
  CHECK(strcmp(gdr_version(), GDR_VERSION_STRING) == 0);
  char version[64];
  snprintf(version, sizeof version, "%d.%d.%d", GDR_VERSION_MAJOR, GDR_VERSION_MINOR,
           GDR_VERSION_PATCH);
  CHECK(strcmp(version, GDR_VERSION_STRING) == 0);
  CHECK(GDR_VERSION_NUMBER ==
        GDR_MAKE_VERSION(GDR_VERSION_MAJOR, GDR_VERSION_MINOR, GDR_VERSION_PATCH));
  CHECK(strcmp(gdr_last_error(), "") == 0);
  CHECK(gdr_device_open(device_name, &device) == GDR_OK);
  CHECK(strstr(gdr_device_description(device), "1 board of 2 chips") != NULL);
  test_kernels();
  test_job(device);
  test_gravity(device);
  test_neighbours(device);
  test_optional_ids(device);
  test_arrays();
  test_vectors(device);
  test_matrices();
  test_nulls();
  gdr_device_close(device);
  return failures;
}
