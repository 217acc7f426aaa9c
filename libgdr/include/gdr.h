/* The C interface of libgdr: the same reach as the C++ one (gdr/gdr.hpp), in C99.
 *
 * Every function that can fail returns a gdr_status: GDR_OK (0), or the kind of the error; the
 * message of this thread's last error is in gdr_last_error(). Handles are opaque pointers; closing
 * or freeing a null one does nothing. A null pointer where something is needed gives
 * GDR_ERROR_USAGE. No exception ever leaves this interface.
 *
 *   gdr_device *device;
 *   gdr_kernel *kernel;
 *   gdr_job *job;
 *   gdr_device_open("emulator", &device);
 *   gdr_kernel_builtin("gravity", &kernel);
 *   gdr_job_create(device, kernel, &job);
 *   gdr_job_set(job, "eps2", 1e-4);
 *   gdr_job_sources(job, n, sources, 5);
 *   gdr_job_targets(job, n, targets, 4);
 *   if (gdr_job_run(job, results, 4) != GDR_OK) puts(gdr_last_error());
 */
#ifndef GDR_H
#define GDR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of error. Usage: a wrong name, option or argument. Input: data that cannot be worked on, as
 * a NaN. Program: a kernel that does not assemble, load or fit. Io: a file. Device: one that cannot
 * be opened, or failed. Unsupported: what this build or host cannot do. Memory: none left.
 * Internal: a defect of the library. Ranks lost: another rank of a device "mpi" has ended, where
 * the MPI lets a job go on (see gdr_device_recover). */
typedef enum gdr_status {
  GDR_OK = 0,
  GDR_ERROR_USAGE = 1,
  GDR_ERROR_INPUT = 2,
  GDR_ERROR_PROGRAM = 3,
  GDR_ERROR_IO = 4,
  GDR_ERROR_DEVICE = 5,
  GDR_ERROR_UNSUPPORTED = 6,
  GDR_ERROR_INTERNAL = 7,
  GDR_ERROR_MEMORY = 8,
  GDR_ERROR_RANKS_LOST = 9
} gdr_status;

/* Type of the numbers in a user's array. GDR_RAW: machine bits in 64-bit words, low word first; one
 * for a short variable, two for a long one. */
typedef enum gdr_type { GDR_F64 = 0, GDR_F32 = 1, GDR_I64 = 2, GDR_RAW = 3 } gdr_type;

/* What a variable of a kernel is for. */
typedef enum gdr_role {
  GDR_TARGET = 0,
  GDR_SOURCE = 1,
  GDR_RESULT = 2,
  GDR_PARAM = 3,
  GDR_OUTPUT = 4
} gdr_role;

/* A kernel's variable by name, with an array where it lies: the first element, the type, and the
 * distance from one element to the next in bytes (0: packed). */
typedef struct gdr_input {
  const char* name;
  const void* data;
  gdr_type type;
  ptrdiff_t stride;
} gdr_input;

typedef struct gdr_result {
  const char* name;
  void* data;
  gdr_type type;
  ptrdiff_t stride;
} gdr_result;

/* One variable of a kernel's interface. The strings live as long as the kernel. */
typedef struct gdr_variable {
  const char* name;
  gdr_role role;
  gdr_type type;
  const char* conversion; /* as declared: "f64to72" */
  const char* reduction;  /* results and outputs: "fadd"; "" for the others */
  size_t host_bytes;      /* size of one value in the user's array */
} gdr_variable;

/* op(X) of a product: the matrix, or its transpose. */
typedef enum gdr_transpose { GDR_NO_TRANSPOSE = 0, GDR_TRANSPOSE = 1 } gdr_transpose;

/* What products see of doubles: the leading 50 bits as the chip has them, or all 53, in up to three
 * passes. */
typedef enum gdr_matrix_precision { GDR_MATRIX_CHIP = 0, GDR_MATRIX_FULL = 1 } gdr_matrix_precision;

/* What triangular matrices are said to be. */
typedef enum gdr_side { GDR_LEFT = 0, GDR_RIGHT = 1 } gdr_side;
typedef enum gdr_triangle { GDR_LOWER = 0, GDR_UPPER = 1 } gdr_triangle;
typedef enum gdr_diagonal { GDR_DIAGONAL_STORED = 0, GDR_DIAGONAL_UNIT = 1 } gdr_diagonal;

/* Counted since the device was opened or its statistics were reset; see gdr/statistics.hpp. */
typedef struct gdr_statistics {
  uint64_t runs;           /* loops started */
  uint64_t interactions;   /* pairs asked for: targets times sources */
  double flops;            /* interactions times the kernel's declared count */
  uint64_t compute_clocks; /* of the PEs; chips work side by side */
  uint64_t chip_clocks;    /* with the ports */
  uint64_t bytes_to_board; /* over the host link */
  uint64_t bytes_from_board;
  double predicted_seconds; /* on the real board, transfers included */
  double host_seconds;      /* measured: wall time inside the emulator */
  unsigned threads;
  uint64_t fast_runs;     /* sections run on a block in host numbers: proved exact, or compiled */
  uint64_t fallback_runs; /* the slow way instead: on integers, or on the exact engine */
  double compile_seconds; /* spent making machine code */
} gdr_statistics;

/* Measured by the host, and what became of the boards; as in gdr/statistics.hpp. Later versions may
 * add members at the end. */
typedef struct gdr_board_statistics {
  double conversion_seconds; /* converting arrays of jobs */
  double transfer_seconds;   /* copying to and from memory that boards reach */
  double board_seconds;      /* boards at work, all of them together */
  double overlap_seconds;    /* that the parts of runs took less together than in turns */
  uint64_t lost_boards;      /* that failed and were taken out since the device was opened */
  uint64_t checks;           /* tests of all boards in the background (option check) */
} gdr_board_statistics;

/* What one rank of a device "mpi" did; as in gdr/ranks.hpp. Later versions may add members at the
 * end. */
typedef struct gdr_rank_report {
  unsigned rank;           /* its number when the device was opened */
  char host[64];           /* name of its machine, cut where it is longer */
  uint64_t boards;         /* emulated in its process */
  uint64_t threads;        /* of its process */
  uint64_t pairs;          /* targets times sources that its boards worked on */
  uint64_t bytes_to_board; /* over its boards' links */
  uint64_t bytes_from_board;
  uint64_t bytes_received; /* from other ranks, for runs */
  uint64_t sources_bytes;  /* of sources that it held for its last run */
  uint64_t memory_bytes;   /* of everything that it held of others and for others then */
  double seconds;          /* wall time in runs */
  double waiting_seconds;  /* of these, for other ranks: what no computing hid */
  double sources_seconds;  /* from the beginning of transfers of sources to their end */
  double sources_waiting;  /* of these, boards stood still for them */
} gdr_rank_report;

typedef struct gdr_device gdr_device;
typedef struct gdr_kernel gdr_kernel;
typedef struct gdr_job gdr_job;
typedef struct gdr_gravity gdr_gravity;
typedef struct gdr_matrix_product gdr_matrix_product;
typedef struct gdr_linear_solver gdr_linear_solver;
typedef struct gdr_small_matrices gdr_small_matrices;

/* The library's version: "0.1.0". */
const char* gdr_version(void);
/* Message of this thread's last error, "" if there was none. It lives until the next error of this
 * thread. */
const char* gdr_last_error(void);
/* Kind of this thread's last error. A call that succeeds leaves both as they are. */
gdr_status gdr_last_status(void);

/* Open a device: "emulator", or with options "emulator:engine=vector,boards=2"; null or "" means
 * what GDR_DEVICE says, else "emulator". One device may be used by one thread at a time. */
gdr_status gdr_device_open(const char* name, gdr_device** device);
/* Open a device on all ranks of a communicator, given by its Fortran handle: MPI_Comm_c2f(comm) in
 * C, the communicator itself in Fortran's mpif.h, comm%MPI_VAL of mpi_f08, comm.py2f() of mpi4py.
 * `name` is "mpi" with options, as "mpi:engine=native,threads=4"; null or "" means "mpi". All calls
 * on it are collective (docs/guides/mpi.md). */
gdr_status gdr_device_open_mpi(int communicator, const char* name, gdr_device** device);
/* This process among those that share the device, and how many they are: 0 of 1 but for devices of
 * kind "mpi". */
unsigned gdr_device_rank(const gdr_device* device);
unsigned gdr_device_ranks(const gdr_device* device);
/* After GDR_ERROR_RANKS_LOST: makes this a device of the ranks that are left, numbered anew in
 * their old order. Collective among them. `lost` gets the lost ranks by the numbers they had when
 * the device was opened, at most `capacity` of them, and `count` their number; both may be null.
 * GDR_ERROR_UNSUPPORTED where the MPI cannot do that. */
gdr_status gdr_device_recover(gdr_device* device, unsigned* lost, size_t capacity, size_t* count);
/* Call `work` with `data`, and again, after gdr_device_recover, as often as ranks are lost
 * meanwhile: all that are left return from the same try. Collective. `work` takes rank and number
 * of ranks anew each time, changes nothing that the next try needs, and returns the status of the
 * first of its calls that failed, else GDR_OK; what it returns on one rank is the error on all. */
gdr_status gdr_device_despite_losses(gdr_device* device, gdr_status (*work)(void* data),
                                     void* data);
/* What every rank did since the last reset of the statistics: collective, the same on all ranks;
 * none on devices of other kinds. `size` is sizeof *reports, as for gdr_device_board_statistics.
 * `count` gets their number, of which at most `capacity` are written; `reports` may be null where
 * capacity is 0. */
gdr_status gdr_device_rank_reports(gdr_device* device, gdr_rank_report* reports, size_t size,
                                   size_t capacity, size_t* count);
/* Close it. Work that is still running is cancelled; jobs may be freed before or after. */
void gdr_device_close(gdr_device* device);
/* One line about it; lives until the device is closed. "" for a null device. */
const char* gdr_device_description(gdr_device* device);
gdr_status gdr_device_statistics(const gdr_device* device, gdr_statistics* statistics);
/* The same of what was measured and of the boards. `size` is sizeof *statistics: no more is
 * written, and members that the library does not know become 0. */
gdr_status gdr_device_board_statistics(const gdr_device* device, gdr_board_statistics* statistics,
                                       size_t size);
/* What computes ("vector"), with which instruction set ("avx2"), and why the kernel now loaded
 * takes the slow way, if it always does ("" otherwise). They live until the next such call or until
 * the device is closed. "" for a null device. */
const char* gdr_device_engine(gdr_device* device);
const char* gdr_device_isa(gdr_device* device);
const char* gdr_device_fallback_reason(gdr_device* device);
gdr_status gdr_device_reset_statistics(gdr_device* device);
/* Targets that all boards hold at once when they are spread over the blocks. */
gdr_status gdr_device_target_slots(const gdr_device* device, const gdr_kernel* kernel,
                                   size_t* slots);

/* A kernel from assembly text, from text of the kernel language, from a file (.gdo: an object,
 * .gdk: kernel language, else assembly), from the bytes of an object file, or the library's own by
 * name. `name` stands in messages; null means "kernel". */
gdr_status gdr_kernel_compile(const char* text, const char* name, gdr_kernel** kernel);
gdr_status gdr_kernel_assemble(const char* text, const char* name, gdr_kernel** kernel);
gdr_status gdr_kernel_load(const char* path, gdr_kernel** kernel);
gdr_status gdr_kernel_object(const void* bytes, size_t size, gdr_kernel** kernel);
gdr_status gdr_kernel_builtin(const char* name, gdr_kernel** kernel);
/* Free it; jobs made from it keep what they need. */
void gdr_kernel_free(gdr_kernel* kernel);
/* Name of the kernel ("" for null), number of its variables (0 for null), and one of them. */
const char* gdr_kernel_name(const gdr_kernel* kernel);
size_t gdr_kernel_variable_count(const gdr_kernel* kernel);
gdr_status gdr_kernel_variable(const gdr_kernel* kernel, size_t index, gdr_variable* variable);
/* Clocks of the loop body, and operations counted, for one interaction. */
gdr_status gdr_kernel_cost(const gdr_kernel* kernel, double* clocks, double* flops);

/* A job: a kernel on a device with its parameters, sources and targets. */
gdr_status gdr_job_create(gdr_device* device, const gdr_kernel* kernel, gdr_job** job);
/* Free it; work that is still running is cancelled. */
void gdr_job_free(gdr_job* job);
/* Set a `param`; those never set are 0. */
gdr_status gdr_job_set(gdr_job* job, const char* name, double value);
/* Give values of all `jvar`s (sources) or `ivar`s (targets): `count` arrays of n values each. They
 * have been read when the call returns. */
gdr_status gdr_job_sources(gdr_job* job, size_t n, const gdr_input* arrays, size_t count);
gdr_status gdr_job_targets(gdr_job* job, size_t n, const gdr_input* arrays, size_t count);
/* Replace n sources from index `first` on; variables that are not named keep their values. */
gdr_status gdr_job_update_sources(gdr_job* job, size_t first, size_t n, const gdr_input* arrays,
                                  size_t count);
/* Compute, and fill the arrays of results. `name[]` stands for all elements name_0, name_1, ... of
 * an array or a list: a row of them for each target. */
gdr_status gdr_job_run(gdr_job* job, const gdr_result* results, size_t count);
/* The same in the background. The arrays are filled when gdr_job_wait (or the next call on this
 * job) returns, and errors come from there. */
gdr_status gdr_job_start(gdr_job* job, const gdr_result* results, size_t count);
gdr_status gdr_job_wait(gdr_job* job);
/* 1 if nothing is running for this job, 0 if something is; 1 for null. */
int gdr_job_ready(const gdr_job* job);

/* Softened gravity, G = 1; see gdr/gravity.hpp. */
gdr_status gdr_gravity_create(gdr_device* device, gdr_gravity** gravity);
void gdr_gravity_free(gdr_gravity* gravity);
/* Forces of n particles on one another: position(3, n), mass(n), acceleration(3, n), potential(n),
 * the first index running fastest. A null acceleration or potential is not computed. */
gdr_status gdr_gravity_compute(gdr_gravity* gravity, size_t n, const double* position,
                               const double* mass, double eps, double* acceleration,
                               double* potential);
/* Forces of n_sources particles on n_targets other places: target(3, n_targets),
 * source(3, n_sources), mass(n_sources), acceleration(3, n_targets), potential(n_targets). */
gdr_status gdr_gravity_compute_on(gdr_gravity* gravity, size_t n_targets, const double* target,
                                  size_t n_sources, const double* source, const double* mass,
                                  double eps, double* acceleration, double* potential);

/* Products of matrices, C = alpha op(A) op(B) + beta C, by the rules of BLAS: op(A) has m rows and
 * k columns, op(B) k rows and n columns; matrices are stored by columns, at the leading dimensions
 * lda, ldb and ldc. See gdr/matrix.hpp. C must not overlap A or B. */
gdr_status gdr_matrix_product_create(gdr_device* device, gdr_matrix_precision precision,
                                     gdr_matrix_product** product);
void gdr_matrix_product_free(gdr_matrix_product* product);
gdr_status gdr_matrix_product_dgemm(gdr_matrix_product* product, gdr_transpose transpose_a,
                                    gdr_transpose transpose_b, size_t m, size_t n, size_t k,
                                    double alpha, const double* a, size_t lda, const double* b,
                                    size_t ldb, double beta, double* c, size_t ldc);
/* In single precision: sums, alpha and beta as in double, and one rounding at the end. */
gdr_status gdr_matrix_product_sgemm(gdr_matrix_product* product, gdr_transpose transpose_a,
                                    gdr_transpose transpose_b, size_t m, size_t n, size_t k,
                                    float alpha, const float* a, size_t lda, const float* b,
                                    size_t ldb, float beta, float* c, size_t ldc);
/* Say that B of the next call of this product (that one only) is B of its last call: same place,
 * shape and elements. What the boards still hold of it is not sent again. */
gdr_status gdr_matrix_product_unchanged_b(gdr_matrix_product* product);

/* Factorisations and solves of matrices by columns; see gdr/linear.hpp. Products of fewer than
 * device_flops operations stay on the host; a negative number means the default, 2^24. */
gdr_status gdr_linear_solver_create(gdr_device* device, gdr_matrix_precision precision,
                                    double device_flops, gdr_linear_solver** solver);
void gdr_linear_solver_free(gdr_linear_solver* solver);
/* P A = L U in place: row i was exchanged with row pivots[i]; there are min(m, n) pivots, and they
 * count from 0. zero_pivot is the index of the first one that is exactly zero, or -1. */
gdr_status gdr_linear_lu(gdr_linear_solver* solver, size_t m, size_t n, double* a, size_t lda,
                         int64_t* pivots, int64_t* zero_pivot);
/* op(A) X = B from the factors; B becomes X. */
gdr_status gdr_linear_solve(gdr_linear_solver* solver, gdr_transpose transpose, size_t n,
                            size_t columns, const double* lu, size_t ldlu, const int64_t* pivots,
                            double* b, size_t ldb);
/* A = L L^T or U^T U in place. bad_pivot is the index of the first one that is not positive, where
 * the factorisation ends, or -1. */
gdr_status gdr_linear_cholesky(gdr_linear_solver* solver, gdr_triangle triangle, size_t n,
                               double* a, size_t lda, int64_t* bad_pivot);
gdr_status gdr_linear_solve_cholesky(gdr_linear_solver* solver, gdr_triangle triangle, size_t n,
                                     size_t columns, const double* factor, size_t ldf, double* b,
                                     size_t ldb);
/* op(A) X = alpha B or X op(A) = alpha B for triangular A; B, m x n, becomes X. */
gdr_status gdr_linear_solve_triangular(gdr_linear_solver* solver, gdr_side side,
                                       gdr_triangle triangle, gdr_transpose transpose,
                                       gdr_diagonal diagonal, size_t m, size_t n, double alpha,
                                       const double* a, size_t lda, double* b, size_t ldb);
/* y = alpha op(A) x + beta y, op(A) having m rows and n columns. */
gdr_status gdr_linear_multiply(gdr_linear_solver* solver, gdr_transpose transpose, size_t m,
                               size_t n, double alpha, const double* a, size_t lda, const double* x,
                               size_t incx, double beta, double* y, size_t incy);

/* Many small matrices at once; see gdr/batch.hpp. Matrix i of a batch is at a + i * step_a. The
 * device must stay open as long as this is used. */
gdr_status gdr_small_matrices_create(gdr_device* device, gdr_small_matrices** small);
void gdr_small_matrices_free(gdr_small_matrices* small);
/* C = A B of each: a(m, k), b(k, n), c(m, n). */
gdr_status gdr_small_multiply(gdr_small_matrices* small, size_t count, size_t m, size_t n, size_t k,
                              const double* a, size_t lda, size_t step_a, const double* b,
                              size_t ldb, size_t step_b, double* c, size_t ldc, size_t step_c);
/* P A = L U of each in place: a(n, n), pivots(n), which count from 0. `singular` is the number of
 * matrices with a pivot that is exactly zero. */
gdr_status gdr_small_lu(gdr_small_matrices* small, size_t count, size_t n, double* a, size_t lda,
                        size_t step_a, int64_t* pivots, size_t* singular);
/* A X = B of each from the factors: lu(n, n), pivots(n), b(n, columns); B becomes X. */
gdr_status gdr_small_solve(gdr_small_matrices* small, size_t count, size_t n, size_t columns,
                           const double* lu, size_t ldlu, size_t step_lu, const int64_t* pivots,
                           double* b, size_t ldb, size_t step_b);

#ifdef __cplusplus
}
#endif

#endif /* GDR_H */
