/* The C interface of libgdr, in C99. It covers the same functions as the C++ interface
 * (gdr/gdr.hpp).
 *
 * Every function that can fail returns a gdr_status: GDR_OK (0), or the kind of the error;
 * gdr_last_error() gives the message of this thread's last error. Handles are opaque pointers;
 * closing or freeing a null handle does nothing. A null pointer for a required argument gives
 * GDR_ERROR_USAGE. Functions never throw. The Fortran module is generated from this file
 * (libgdr/fortran/generate.py).
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

#include "gdr/version.h"

/* The type of enumerations. In C++ it makes every int of a caller a valid value, which the
 * functions can examine and refuse. */
#ifdef __cplusplus
#define GDR_INT : int
#else
#define GDR_INT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of error. Usage: a wrong name, option or argument. Input: invalid data, for example a NaN.
 * Program: a kernel that does not assemble, load or fit. Io: a file. Device: it cannot be opened,
 * or failed. Unsupported: not available in this build or on this host. Memory: out of memory.
 * Internal: a defect of the library. Rank failure: another rank of a device "mpi" has failed, where
 * the MPI lets the job continue (see gdr_device_shrink). */
typedef enum gdr_status GDR_INT {
  GDR_OK = 0,
  GDR_ERROR_USAGE = 1,
  GDR_ERROR_INPUT = 2,
  GDR_ERROR_PROGRAM = 3,
  GDR_ERROR_IO = 4,
  GDR_ERROR_DEVICE = 5,
  GDR_ERROR_UNSUPPORTED = 6,
  GDR_ERROR_INTERNAL = 7,
  GDR_ERROR_MEMORY = 8,
  GDR_ERROR_RANK_FAILURE = 9
} gdr_status;

/* Type of the numbers in a user's array. GDR_RAW: machine bits in 64-bit words, low word first: one
 * word for a short variable, two words for a long variable. */
typedef enum gdr_type GDR_INT { GDR_F64 = 0, GDR_F32 = 1, GDR_I64 = 2, GDR_RAW = 3 } gdr_type;

/* Role of a variable of a kernel. */
typedef enum gdr_role GDR_INT {
  GDR_TARGET = 0,
  GDR_SOURCE = 1,
  GDR_RESULT = 2,
  GDR_PARAM = 3,
  GDR_OUTPUT = 4
} gdr_role;

/* A kernel's variable by name, with its array: first element, type, and distance from one element
 * to the next in bytes (0: contiguous). */
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

/* One variable of a kernel's interface. The strings are valid as long as the kernel. */
typedef struct gdr_variable {
  const char* name;
  gdr_role role;
  gdr_type type;
  const char* conversion; /* as declared: "f64to72" */
  const char* reduction;  /* "fadd" of results and outputs; "" of other variables */
  size_t host_bytes;      /* size of one value in the user's array */
} gdr_variable;

/* Variables of a kernel that may be passed as one array: an array, vector, tensor, table or list.
 * Its elements are consecutive variables, and rows of the user's arrays have them in this order,
 * the last index fastest. Pointers are valid as long as the kernel. */
typedef struct gdr_variable_array {
  const char* name;
  size_t first;        /* number of its first element among the variables, from 0 */
  size_t count;        /* number of elements */
  size_t rank;         /* number of indices */
  const size_t* sizes; /* one for each index */
} gdr_variable_array;

/* op(X) of a product: the matrix or its transpose. */
typedef enum gdr_transpose GDR_INT { GDR_NO_TRANSPOSE = 0, GDR_TRANSPOSE = 1 } gdr_transpose;

/* Precision of the factors of products: the leading 50 bits, as on the chip, or all 53 bits of a
 * double, in up to three passes. */
typedef enum gdr_matrix_precision GDR_INT {
  GDR_MATRIX_CHIP = 0,
  GDR_MATRIX_FULL = 1
} gdr_matrix_precision;

/* Side, triangle and diagonal of triangular matrices. */
typedef enum gdr_side GDR_INT { GDR_LEFT = 0, GDR_RIGHT = 1 } gdr_side;
typedef enum gdr_triangle GDR_INT { GDR_LOWER = 0, GDR_UPPER = 1 } gdr_triangle;
typedef enum gdr_diagonal GDR_INT { GDR_DIAGONAL_STORED = 0, GDR_DIAGONAL_UNIT = 1 } gdr_diagonal;

/* Counts since the device was opened or its statistics were reset; see gdr/statistics.hpp. */
typedef struct gdr_statistics {
  uint64_t runs;           /* loops started */
  uint64_t interactions;   /* pairs of targets and sources */
  double flops;            /* interactions times the declared operations of the kernel */
  uint64_t compute_clocks; /* clocks of the PEs; chips run concurrently */
  uint64_t chip_clocks;    /* clocks of PEs and ports */
  uint64_t bytes_to_board; /* bytes over the host link */
  uint64_t bytes_from_board;
  double predicted_seconds; /* predicted time on the real board, with transfers */
  double host_seconds;      /* measured wall time in the emulator */
  unsigned threads;
  uint64_t fast_runs;     /* runs of a section on a block in doubles (verified) or compiled code */
  uint64_t fallback_runs; /* runs on the fallback: integers, or the exact engine */
  double compile_seconds; /* time of run-time code generation */
} gdr_statistics;

/* Times measured by the host, and health of the boards; as in gdr/statistics.hpp. Later versions
 * may add members at the end. */
typedef struct gdr_board_statistics {
  double conversion_seconds; /* conversion of the arrays of jobs */
  double transfer_seconds;   /* copies to and from memory that boards access */
  double board_seconds;      /* work of all boards */
  double overlap_seconds;    /* time saved by overlap of the parts of runs */
  uint64_t failed_boards;    /* boards removed after a failure since the device was opened */
  uint64_t checks;           /* background tests of all boards (option health_check) */
} gdr_board_statistics;

/* Work of one rank of a device "mpi"; as in gdr/ranks.hpp. Later versions may add members at the
 * end. */
typedef struct gdr_rank_report {
  unsigned rank;           /* number of the rank when the device was opened */
  char host[64];           /* host name, truncated */
  uint64_t boards;         /* boards emulated in its process */
  uint64_t threads;        /* threads of its process */
  uint64_t pairs;          /* pairs of targets and sources on its boards */
  uint64_t bytes_to_board; /* bytes over the links of its boards */
  uint64_t bytes_from_board;
  uint64_t bytes_received; /* bytes from other ranks for runs */
  uint64_t sources_bytes;  /* sources stored for its last run */
  uint64_t memory_bytes;   /* all data of and for other ranks in its last run */
  double seconds;          /* wall time of runs */
  double waiting_seconds;  /* part of it spent waiting for other ranks */
  double sources_seconds;  /* duration of transfers of sources */
  double sources_waiting;  /* part of it in which boards were idle */
} gdr_rank_report;

/* What stands for a distant cluster in a sum with a tree; see gdr/tree.hpp. */
typedef enum gdr_tree_method GDR_INT {
  GDR_TREE_AUTO = 0,
  GDR_TREE_DIRECT = 1,
  GDR_TREE_MONOPOLE = 2,
  GDR_TREE_MULTIPOLE = 3,
  GDR_TREE_EXPANSION = 4
} gdr_tree_method;

/* How a sum may be approximated; as in gdr/tree.hpp. Members that are 0 have their defaults. Later
 * versions may add members at the end. */
typedef struct gdr_tree_options {
  double accuracy;        /* largest rms of the relative errors of accelerations; 0: 1e-3 */
  gdr_tree_method method; /* 0: the fastest */
  unsigned degree;        /* degree of multipoles, 2 to 6, or expansions, 2 to 16 */
  double theta;           /* ratio of radius and distance instead of an accuracy; 0: chosen */
  uint64_t group_size;    /* largest number of targets with a common list; 0: chosen */
  uint64_t leaf_size;     /* largest number of particles of an undivided cluster; 0: chosen */
  uint64_t samples;       /* number of targets whose errors are measured; 0: 256 */
} gdr_tree_options;

/* How a sum was computed, and its error; as in gdr/tree.hpp. Later versions may add members at the
 * end. */
typedef struct gdr_tree_report {
  gdr_tree_method method;    /* not auto */
  unsigned degree;           /* that of the method; 1: monopoles; 0: direct */
  double theta;              /* ratio of radius and distance; 0: direct */
  double error;              /* root mean square of the relative errors of the sample */
  double largest_error;      /* largest relative error of the sample */
  uint64_t samples;          /* number of targets whose errors were measured */
  uint64_t clusters;         /* number of clusters of the sources' tree */
  uint64_t groups;           /* number of groups of targets */
  double sources_per_target; /* mean number of particles and proxies in a target's sums */
  double build_seconds;      /* time of making the tree */
  double choice_seconds;     /* time of choosing the method, by errors of trials */
  double list_seconds;       /* time of making lists */
  double force_seconds;      /* time of the sums */
  double expansion_seconds;  /* time of expansions */
  double error_seconds;      /* time of measuring the errors of the results */
} gdr_tree_report;

/* How a sum of any law may be approximated; as in gdr/tree_sum.hpp. Members that are 0 have their
 * defaults. Later versions may add members at the end. */
typedef struct gdr_tree_sum_options {
  double accuracy;     /* largest rms error of each result, relative to the result; 0: 1e-3 */
  double theta;        /* ratio of radius and distance instead of an accuracy; 0: chosen */
  unsigned degree;     /* degree of the interpolation, 1 to 8; 0: chosen */
  unsigned threads;    /* limit of the threads that make trees; 0: that of the device */
  uint64_t group_size; /* largest number of targets with a common list; 0: chosen */
  uint64_t leaf_size;  /* largest number of particles of an undivided cluster; 0: chosen */
  uint64_t samples;    /* number of targets whose errors are measured; 0: 256 */
} gdr_tree_sum_options;

/* How a sum of any law was computed, and its error; as in gdr/tree_sum.hpp. Later versions may add
 * members at the end. */
typedef struct gdr_tree_sum_report {
  unsigned degree;           /* degree of the interpolation; 0: direct sums */
  double theta;              /* mean ratio of radius and distance; 0: direct sums */
  double error;              /* the largest rms error of a result, relative to the result */
  double largest_error;      /* the largest error of a target, relative to the same */
  uint64_t samples;          /* number of targets whose errors were measured */
  uint64_t clusters;         /* number of clusters of the sources' tree */
  uint64_t groups;           /* number of groups of targets */
  double sources_per_target; /* mean number of particles and proxies in a target's sums */
  double build_seconds;      /* time of making the tree */
  double choice_seconds;     /* time of choosing degree and theta, by errors of trials */
  double list_seconds;       /* time of making lists */
  double sum_seconds;        /* time of the sums */
  double error_seconds;      /* time of measuring the errors of the results */
} gdr_tree_sum_report;

/* How exact an Ewald sum is, and how it is divided; as in gdr/ewald.hpp. Members that are 0 are
 * chosen. Later versions may add members at the end. */
typedef struct gdr_ewald_options {
  double accuracy;    /* estimated rms of the relative errors; 0: 1e-5 */
  double alpha;       /* splitting parameter, an inverse length */
  double cutoff;      /* cut-off of the part in real space, a length */
  double wave_cutoff; /* largest wave vector, an inverse length */
} gdr_ewald_options;

/* The result of an Ewald sum; as in gdr/ewald.hpp. Later versions may add members at the end. */
typedef struct gdr_ewald_result {
  double energy;      /* energy of the box */
  double virial[9];   /* - dE / d strain, symmetric; its trace is the energy */
  double alpha;       /* splitting parameter */
  double cutoff;      /* cut-off in real space */
  double wave_cutoff; /* largest wave vector */
  uint64_t waves;     /* number of wave vectors, one of each pair k, -k */
  double error;       /* estimate of the error */
} gdr_ewald_result;

/* Which smoothing lengths are found; as in gdr/sph.hpp. Members that are 0 have their defaults.
 * Later versions may add members at the end. */
typedef struct gdr_sph_length_options {
  double eta;          /* length in mean distances; 0: 1.2 */
  double tolerance;    /* largest relative difference of both sides; 0: 1e-3 */
  double least;        /* least length */
  double most;         /* largest length; 0: no limit */
  unsigned iterations; /* limit of their number; 0: 100 */
} gdr_sph_length_options;

/* What a sum within a cut-off did last; as in gdr/pairs.hpp. Later versions may add members at the
 * end. */
typedef struct gdr_pair_statistics {
  uint64_t runs;       /* runs since the sum was created */
  uint64_t lists_made; /* how often lists were made since then */
  uint64_t groups;     /* groups of targets with a common list */
  uint64_t sources;    /* sources with their images */
  double pairs;        /* pairs that a run computes, also beyond the cut-off */
  double list_seconds; /* time for the last lists */
  double skin;         /* skin of the last lists */
} gdr_pair_statistics;

typedef struct gdr_device gdr_device;
typedef struct gdr_kernel gdr_kernel;
typedef struct gdr_job gdr_job;
typedef struct gdr_set_job gdr_set_job;
typedef struct gdr_pair_sum gdr_pair_sum;
typedef struct gdr_tree_sum gdr_tree_sum;
typedef struct gdr_ewald gdr_ewald;
typedef struct gdr_sph gdr_sph;
typedef struct gdr_neighbours gdr_neighbours;
typedef struct gdr_gravity gdr_gravity;
typedef struct gdr_matrix_product gdr_matrix_product;
typedef struct gdr_linear_solver gdr_linear_solver;
typedef struct gdr_batched_matrices gdr_batched_matrices;

/* The library's version: "0.1.0". That of the headers is GDR_VERSION_STRING (gdr/version.h). */
const char* gdr_version(void);
/* Message of this thread's last error, "" if there was none. It is valid until the next error of
 * this thread. */
const char* gdr_last_error(void);
/* Kind of this thread's last error. Successful calls change neither. */
gdr_status gdr_last_status(void);

/* Open a device: "emulator", or with options "emulator:engine=vector,boards=2"; null or "" means
 * GDR_DEVICE if it is set, else "emulator". One thread at a time may use a device. */
gdr_status gdr_device_open(const char* name, gdr_device** device);
/* Open a device on all ranks of a communicator, given by its Fortran handle: MPI_Comm_c2f(comm) in
 * C, the communicator itself in Fortran's mpif.h, comm%MPI_VAL of mpi_f08, comm.py2f() of mpi4py.
 * `name` is "mpi" with options, as "mpi:engine=native,threads=4"; null or "" means "mpi". All calls
 * on it are collective (docs/guides/mpi.md). */
gdr_status gdr_device_open_mpi(int communicator, const char* name, gdr_device** device);
/* Rank of this process among those that share the device, and number of ranks: 0 and 1 except for
 * devices of kind "mpi". */
unsigned gdr_device_rank(const gdr_device* device);
unsigned gdr_device_ranks(const gdr_device* device);
/* After GDR_ERROR_RANK_FAILURE: shrink the device to the remaining ranks, renumbered in their old
 * order. Collective among them. `failed` gets the failed ranks by their numbers when the device was
 * opened, at most `capacity` of them, and `count` their number; both may be null.
 * GDR_ERROR_UNSUPPORTED if the MPI does not support it. */
gdr_status gdr_device_shrink(gdr_device* device, unsigned* failed, size_t capacity, size_t* count);
/* Call `work` with `data`; on rank failure, shrink the device and call it again: all remaining
 * ranks return from the same attempt. Collective. `work` must read rank and number of ranks in each
 * attempt and must not change its own inputs. It returns the status of the first of its calls that
 * failed, else GDR_OK; an error of one rank is returned on all ranks. */
gdr_status gdr_device_retry_on_rank_failure(gdr_device* device, gdr_status (*work)(void* data),
                                            void* data);
/* Reports of all ranks since the last reset of the statistics; none on devices of other kinds.
 * Collective, with the same result on all ranks. `size` is sizeof *reports, as for
 * gdr_device_board_statistics. `count` gets their number, of which at most `capacity` are written;
 * `reports` may be null if capacity is 0. */
gdr_status gdr_device_rank_reports(gdr_device* device, gdr_rank_report* reports, size_t size,
                                   size_t capacity, size_t* count);
/* Close a device. Running work is cancelled; jobs may be freed before or after. */
void gdr_device_close(gdr_device* device);
/* Description in one line, valid until the device is closed. "" for a null device. */
const char* gdr_device_description(gdr_device* device);
/* Statistics of the emulated device. */
gdr_status gdr_device_statistics(const gdr_device* device, gdr_statistics* statistics);
/* Statistics of host and boards. `size` is sizeof *statistics: no more is written, and members that
 * the library does not know become 0. */
gdr_status gdr_device_board_statistics(const gdr_device* device, gdr_board_statistics* statistics,
                                       size_t size);
/* Engine ("vector") and instruction set ("avx2") of the device, and why the loaded kernel always
 * runs on the fallback, if it does ("" otherwise). The texts are valid until the next such call or
 * until the device is closed. "" for a null device. */
const char* gdr_device_engine(gdr_device* device);
const char* gdr_device_isa(gdr_device* device);
const char* gdr_device_fallback_reason(gdr_device* device);
gdr_status gdr_device_reset_statistics(gdr_device* device);
/* Number of targets that all boards hold at once in the i-parallel partition. */
gdr_status gdr_device_target_slots(const gdr_device* device, const gdr_kernel* kernel,
                                   size_t* slots);

/* A kernel from assembly text, from text of the kernel language, from a file (.gdo: an object,
 * .gdk: kernel language, else assembly), from the bytes of an object file, or a kernel of the
 * library by name. `name` is used in messages; null means "kernel". */
gdr_status gdr_kernel_compile(const char* text, const char* name, gdr_kernel** kernel);
gdr_status gdr_kernel_assemble(const char* text, const char* name, gdr_kernel** kernel);
gdr_status gdr_kernel_load(const char* path, gdr_kernel** kernel);
gdr_status gdr_kernel_object(const void* bytes, size_t size, gdr_kernel** kernel);
gdr_status gdr_kernel_builtin(const char* name, gdr_kernel** kernel);
/* The adjoint of a kernel: a kernel that computes derivatives. For results f, sums over all
 * sources, it has the derivatives of S = sum of g f, over all targets and results, with respect to
 * `variables`: names of targets and params, or of sources and params, separated by commas. A name
 * may stand for an array. Its results have these names and "_bar" behind them, its inputs the
 * weights g under the names of the results and "_bar" behind them. With respect to sources the
 * roles are exchanged: the sources of the kernel are the targets of its adjoint. The derivative
 * with respect to a param is the sum of its result over all targets. Results that are products,
 * minima, logarithms of sums or ranked values are inputs, too. Kernels in assembly and from objects
 * have no adjoint. */
gdr_status gdr_kernel_adjoint(const gdr_kernel* kernel, const char* variables,
                              gdr_kernel** adjoint);
/* Free a kernel; jobs created from it stay valid. */
void gdr_kernel_free(gdr_kernel* kernel);
/* Name of the kernel ("" for null), number of its variables (0 for null), and one variable. */
const char* gdr_kernel_name(const gdr_kernel* kernel);
size_t gdr_kernel_variable_count(const gdr_kernel* kernel);
gdr_status gdr_kernel_variable(const gdr_kernel* kernel, size_t index, gdr_variable* variable);
/* Number of the kernel's arrays (0 for null), and one of them. */
size_t gdr_kernel_array_count(const gdr_kernel* kernel);
gdr_status gdr_kernel_array(const gdr_kernel* kernel, size_t index, gdr_variable_array* array);
/* Clocks of the loop body and declared operations per interaction. */
gdr_status gdr_kernel_cost(const gdr_kernel* kernel, double* clocks, double* flops);

/* Create a job: a kernel on a device with its parameters, sources and targets. */
gdr_status gdr_job_create(gdr_device* device, const gdr_kernel* kernel, gdr_job** job);
/* Free a job; running work is cancelled. */
void gdr_job_free(gdr_job* job);
/* Set a `param`; the default is 0. */
gdr_status gdr_job_set(gdr_job* job, const char* name, double value);
/* Set all n elements of an array of `param`s, such as the three components of a vector: values(n).
 */
gdr_status gdr_job_set_values(gdr_job* job, const char* name, size_t n, const double* values);
/* Set the values of all `jvar`s (sources) or `ivar`s (targets): `count` arrays of n values each.
 * The name of an array or vector of the kernel stands for all its elements: its array has them for
 * each item, one after the other (n times 3 values for a vector), and `stride` is that between
 * elements. The arrays are read before the call returns. The integers `idj` and `idi` may be left
 * out: all sources then have the id -2, all targets -1. */
gdr_status gdr_job_sources(gdr_job* job, size_t n, const gdr_input* arrays, size_t count);
gdr_status gdr_job_targets(gdr_job* job, size_t n, const gdr_input* arrays, size_t count);
/* Replace n sources from index `first` on; other variables keep their values. */
gdr_status gdr_job_update_sources(gdr_job* job, size_t first, size_t n, const gdr_input* arrays,
                                  size_t count);
/* Replace the n sources with the indices places(n): source places[k] gets element k of the arrays.
 * Other variables keep their values. */
gdr_status gdr_job_update_sources_at(gdr_job* job, size_t n, const int32_t* places,
                                     const gdr_input* arrays, size_t count);
/* Compute, and fill the arrays of results. The name of an array or vector, or `name[]`, as for the
 * entries of a list, means all elements name_0, name_1, ...: a row for each target. */
gdr_status gdr_job_run(gdr_job* job, const gdr_result* results, size_t count);
/* Start the computation in the background. The arrays are filled when gdr_job_wait (or the next
 * call on this job) returns, which also returns errors. */
gdr_status gdr_job_start(gdr_job* job, const gdr_result* results, size_t count);
gdr_status gdr_job_wait(gdr_job* job);
/* 1 if no work of this job is running, else 0; 1 for null. */
int gdr_job_ready(const gdr_job* job);

/* Create a set job: a kernel, with its parameters, that is computed on many independent sets of
 * targets and sources in one call, as tree codes and neighbour searches make them; see
 * gdr/sets.hpp. Kernels with outputs give GDR_ERROR_UNSUPPORTED. */
gdr_status gdr_set_job_create(gdr_device* device, const gdr_kernel* kernel, gdr_set_job** job);
/* Free a set job; running work is cancelled. */
void gdr_set_job_free(gdr_set_job* job);
/* Set a `param`, or all n elements of an array of them, for all sets: values(n). */
gdr_status gdr_set_job_set(gdr_set_job* job, const char* name, double value);
gdr_status gdr_set_job_set_values(gdr_set_job* job, const char* name, size_t n,
                                  const double* values);
/* Remove all sets. */
gdr_status gdr_set_job_clear(gdr_set_job* job);
/* Add sets: the targets of set k, and its results, are the items offsets[k] to offsets[k + 1] - 1
 * of the arrays, with offsets of one more element than there are sets. Offsets must not be negative
 * or decrease. The arrays are as for gdr_job_targets and gdr_job_run; they are read and filled by
 * the runs, and must exist until then, while offsets may be freed. Results must not overlap targets
 * or sources of any set. */
gdr_status gdr_set_job_add_sets(gdr_set_job* job, size_t sets, const int64_t* offsets,
                                const gdr_input* targets, size_t count, const gdr_result* results,
                                size_t result_count);
/* Add sources to each of the last `sets` sets, after those that it has: the k-th of them gets the
 * items offsets[k] to offsets[k + 1] - 1 of the arrays, which have n items and must exist until the
 * runs. A set without sources has the results of section Start. */
gdr_status gdr_set_job_add_sources(gdr_set_job* job, size_t sets, const int64_t* offsets, size_t n,
                                   const gdr_input* arrays, size_t count);
/* Likewise by index: the k-th of the sets gets the items places[offsets[k]] to
 * places[offsets[k + 1] - 1] of the arrays, which have `items` items: places(n). Offsets and places
 * are copied. */
gdr_status gdr_set_job_add_sources_at(gdr_set_job* job, size_t sets, const int64_t* offsets,
                                      size_t n, const int32_t* places, size_t items,
                                      const gdr_input* arrays, size_t count);
/* Compute all sets. Messages begin with the set and the position of the segment among its sources:
 * "set 3, segment 1: ...". Names, types and pointers are checked here as well. The sets stay: the
 * next run reads the arrays again. The results are undefined after an error. Without sets, the call
 * has no effect. */
gdr_status gdr_set_job_run(gdr_set_job* job);
/* Start the computation in the background. Targets and sources are read before the call returns;
 * the results are filled when gdr_set_job_wait (or the next call that computes or sets a `param`)
 * returns, which also returns errors. */
gdr_status gdr_set_job_start(gdr_set_job* job);
gdr_status gdr_set_job_wait(gdr_set_job* job);
/* 1 if no work of this job is running, else 0; 1 for null. */
int gdr_set_job_ready(const gdr_set_job* job);

/* Softened gravity, G = 1; see gdr/gravity.hpp. */
gdr_status gdr_gravity_create(gdr_device* device, gdr_gravity** gravity);
void gdr_gravity_free(gdr_gravity* gravity);
/* Give each of n_sources sources, and of n_targets other places, a softening length for the next
 * calls, whose eps must be 0: source_eps(n_sources), target_eps(n_targets), which are copied. The
 * square of the softening of a pair is the mean of both squares, or that of the source if n_targets
 * is 0 and the calls have other places; calls without places do not use target_eps. n_sources = 0:
 * one length again, eps of the calls. On a device of many ranks every rank needs a particle. */
gdr_status gdr_gravity_set_softening(gdr_gravity* gravity, size_t n_sources,
                                     const double* source_eps, size_t n_targets,
                                     const double* target_eps);
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
/* The same sums to an accuracy, in O(n log n) with a tree; see gdr/gravity.hpp. Null options stand
 * for the defaults; `options_size` is sizeof *options. The report may be null; `report_size` is
 * sizeof *report, as for gdr_device_board_statistics. position(3, n), mass(n),
 * acceleration(3, n), potential(n). */
gdr_status gdr_gravity_compute_tree(gdr_gravity* gravity, size_t n, const double* position,
                                    const double* mass, double eps, double* acceleration,
                                    double* potential, const gdr_tree_options* options,
                                    size_t options_size, gdr_tree_report* report,
                                    size_t report_size);
/* Likewise at n_targets other places: target(3, n_targets), source(3, n_sources), mass(n_sources),
 * acceleration(3, n_targets), potential(n_targets). */
gdr_status gdr_gravity_compute_tree_on(gdr_gravity* gravity, size_t n_targets, const double* target,
                                       size_t n_sources, const double* source, const double* mass,
                                       double eps, double* acceleration, double* potential,
                                       const gdr_tree_options* options, size_t options_size,
                                       gdr_tree_report* report, size_t report_size);

/* Create a sum of a kernel over the pairs whose distance is below a cut-off, in open space; see
 * gdr/pairs.hpp. `skin`: how much farther than the cut-off lists reach, which are used again until
 * a particle has moved by half of it; 0: new lists in every run; negative: chosen by counted costs.
 * `threads`: limit of the threads that make lists; 0: that of the device. Kernels without positions
 * or with outputs give GDR_ERROR_UNSUPPORTED. */
gdr_status gdr_pair_sum_create(gdr_device* device, const gdr_kernel* kernel, double cutoff,
                               double skin, unsigned threads, gdr_pair_sum** sum);
void gdr_pair_sum_free(gdr_pair_sum* sum);
/* Set a `param`, or all n elements of an array of them: values(n). */
gdr_status gdr_pair_sum_set(gdr_pair_sum* sum, const char* name, double value);
gdr_status gdr_pair_sum_set_values(gdr_pair_sum* sum, const char* name, size_t n,
                                   const double* values);
/* Other cut-offs: one, or one for each target: radius(n). */
gdr_status gdr_pair_sum_set_cutoff(gdr_pair_sum* sum, size_t n, const double* radius);
/* Repeat space along the edges of a box, one after the other: vectors(3, 3). periodic(3) says which
 * of them; null in C: all. Null vectors, and no periodic edge: open space. */
gdr_status gdr_pair_sum_set_box(gdr_pair_sum* sum, const double* vectors, const int* periodic);
/* Compute the sums of n particles that act on each other, but not on themselves: position(3, n).
 * Arrays are as for gdr_job_sources, gdr_job_targets and gdr_job_run, without positions: `sources`
 * and `targets` have the particles' other variables as sources and as targets. */
gdr_status gdr_pair_sum_run(gdr_pair_sum* sum, size_t n, const double* position,
                            const gdr_input* sources, size_t count, const gdr_input* targets,
                            size_t target_count, const gdr_result* results, size_t result_count);
/* The sums of n_sources particles at n_targets other places: target(3, n_targets),
 * source(3, n_sources). */
gdr_status gdr_pair_sum_run_on(gdr_pair_sum* sum, size_t n_targets, const double* target,
                               const gdr_input* targets, size_t target_count, size_t n_sources,
                               const double* source, const gdr_input* sources, size_t count,
                               const gdr_result* results, size_t result_count);
/* `size` is sizeof *statistics, as for gdr_device_board_statistics. */
gdr_status gdr_pair_sum_statistics(const gdr_pair_sum* sum, gdr_pair_statistics* statistics,
                                   size_t size);

/* Create a sum of a kernel with charges over all sources to an accuracy, in O(n log n) with a tree;
 * see gdr/tree_sum.hpp. Null options stand for the defaults; `options_size` is sizeof *options.
 * Kernels without charges give GDR_ERROR_UNSUPPORTED, with the reason. */
gdr_status gdr_tree_sum_create(gdr_device* device, const gdr_kernel* kernel,
                               const gdr_tree_sum_options* options, size_t options_size,
                               gdr_tree_sum** sum);
void gdr_tree_sum_free(gdr_tree_sum* sum);
/* Set a `param`, or all n elements of an array of them: values(n). */
gdr_status gdr_tree_sum_set(gdr_tree_sum* sum, const char* name, double value);
gdr_status gdr_tree_sum_set_values(gdr_tree_sum* sum, const char* name, size_t n,
                                   const double* values);
/* The names of the kernel's charges and of the variables that multiply them, separated by blanks;
 * valid until the sum is freed. "" for null. */
const char* gdr_tree_sum_charges(const gdr_tree_sum* sum);
/* Compute the sums of n particles on each other: position(3, n). Arrays are as for
 * gdr_pair_sum_run; variables that hold the particles' numbers may be left out. The report may be
 * null; `report_size` is sizeof *report, as for gdr_device_board_statistics. */
gdr_status gdr_tree_sum_run(gdr_tree_sum* sum, size_t n, const double* position,
                            const gdr_input* sources, size_t count, const gdr_input* targets,
                            size_t target_count, const gdr_result* results, size_t result_count,
                            gdr_tree_sum_report* report, size_t report_size);
/* The sums of n_sources particles at n_targets other places: target(3, n_targets),
 * source(3, n_sources). */
gdr_status gdr_tree_sum_run_on(gdr_tree_sum* sum, size_t n_targets, const double* target,
                               const gdr_input* targets, size_t target_count, size_t n_sources,
                               const double* source, const gdr_input* sources, size_t count,
                               const gdr_result* results, size_t result_count,
                               gdr_tree_sum_report* report, size_t report_size);
/* Why the last run used direct sums; "" if it did not, and for null. Valid until the next run, or
 * until the sum is freed. */
const char* gdr_tree_sum_reason(const gdr_tree_sum* sum);

/* Ewald sums of point charges in a periodic box; see gdr/ewald.hpp. */
gdr_status gdr_ewald_create(gdr_device* device, gdr_ewald** ewald);
void gdr_ewald_free(gdr_ewald* ewald);
/* Energy, forces and virial of n charges in a box with three periodic edges, one after the other:
 * position(3, n), charge(n), vectors(3, 3), force(3, n), energies(n). In C, null forces and
 * energies are not needed. Null options stand for the defaults; `options_size` is sizeof *options,
 * and `result_size` sizeof *result, as for gdr_device_board_statistics. */
gdr_status gdr_ewald_run(gdr_ewald* ewald, size_t n, const double* position, const double* charge,
                         const double* vectors, const gdr_ewald_options* options,
                         size_t options_size, double* force, double* energies,
                         gdr_ewald_result* result, size_t result_size);

/* Smoothed particle hydrodynamics in open space, or in a periodic box; see gdr/sph.hpp. */
gdr_status gdr_sph_create(gdr_device* device, gdr_sph** sph);
void gdr_sph_free(gdr_sph* sph);
/* The box, as for gdr_pair_sum_set_box: vectors(3, 3), periodic(3). */
gdr_status gdr_sph_set_box(gdr_sph* sph, const double* vectors, const int* periodic);
/* Densities, and numbers of particles within the spline with the particle itself: position(3, n),
 * mass(n), h(n), rho(n), near(n). In C, a null `near` is not needed. */
gdr_status gdr_sph_density(gdr_sph* sph, size_t n, const double* position, const double* mass,
                           const double* h, double* rho, int64_t* near);
/* Find smoothing lengths h = eta (mass / rho)^(1/3) and their densities, by iteration from
 * start(n_start), or from an estimate if n_start is 0: position(3, n), mass(n), h(n), rho(n),
 * near(n). In C, a null `near` is not needed. Null options stand for the defaults; `options_size`
 * is sizeof *options. `iterations` gets their number. */
gdr_status gdr_sph_smoothing_lengths(gdr_sph* sph, size_t n, const double* position,
                                     const double* mass, size_t n_start, const double* start,
                                     const gdr_sph_length_options* options, size_t options_size,
                                     double* h, double* rho, int64_t* near, unsigned* iterations);
/* Accelerations by pressure and artificial viscosity, rates of the internal energies per mass, and
 * the largest approach of a pair for the time step: position(3, n), mass(n), h(n), velocity(3, n),
 * rho(n), pressure(n), sound(n), acceleration(3, n), dudt(n), mumax(n). alpha, beta and eta are
 * those of the kernel sph_force, usually 1, 2 and 0.01. In C, results that are null are not needed.
 */
gdr_status gdr_sph_forces(gdr_sph* sph, size_t n, const double* position, const double* mass,
                          const double* h, const double* velocity, const double* rho,
                          const double* pressure, const double* sound, double alpha, double beta,
                          double eta, double* acceleration, double* dudt, double* mumax);

/* Create a search for neighbours on the host; see gdr/neighbours.hpp. `threads` is a limit; 0: one
 * per core. */
gdr_status gdr_neighbours_create(unsigned threads, gdr_neighbours** search);
void gdr_neighbours_free(gdr_neighbours* search);
/* The box, as for gdr_pair_sum_set_box: vectors(3, 3), periodic(3). */
gdr_status gdr_neighbours_set_box(gdr_neighbours* search, const double* vectors,
                                  const int* periodic);
/* Ids of all sources and all targets of the next searches: a source with the id of a target is not
 * its neighbour: source_ids(n_sources), target_ids(n_targets), which are copied. Numbers of 0: no
 * ids. */
gdr_status gdr_neighbours_set_ids(gdr_neighbours* search, size_t n_sources,
                                  const int64_t* source_ids, size_t n_targets,
                                  const int64_t* target_ids);
/* Find the particles within a radius of each of n particles, without the particle itself:
 * position(3, n), radius(n_radii), with one radius or one for each. `quantities` says what the
 * search keeps: "" the lists of gdr_neighbours_lists; else the letters of the arrays of
 * gdr_neighbours_pairs: i j d D S. */
gdr_status gdr_neighbours_find(gdr_neighbours* search, size_t n, const double* position,
                               size_t n_radii, const double* radius, const char* quantities);
/* Likewise at n_targets other places: target(3, n_targets), source(3, n_sources), radius(n_radii).
 */
gdr_status gdr_neighbours_find_on(gdr_neighbours* search, size_t n_targets, const double* target,
                                  size_t n_sources, const double* source, size_t n_radii,
                                  const double* radius, const char* quantities);
/* Number of targets of the last search, and number of their neighbours, which is that of pairs. */
gdr_status gdr_neighbours_counts(const gdr_neighbours* search, size_t* targets, size_t* entries);
/* Copy the lists of the last search: list k is indices[offsets[k]] to indices[offsets[k + 1] - 1].
 * There is one offset more than targets, and an index for each entry: indices(n). */
gdr_status gdr_neighbours_lists(const gdr_neighbours* search, int64_t* offsets, int64_t* indices);
/* Copy the pairs of the last search, by target, then source: numbers of targets (i) and sources
 * (j), distances (d), differences (D: x_j - x_i + S box) and shifts (S: numbers of edges), with
 * targets(n), sources(n), distances(n), differences(3, n), shifts(3, n) for n pairs. Null for
 * arrays that are not wanted; the others must have been asked for. */
gdr_status gdr_neighbours_pairs(const gdr_neighbours* search, int64_t* targets, int64_t* sources,
                                double* distances, double* differences, int64_t* shifts);

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
/* In single precision: sums, alpha and beta in double, and one rounding at the end. */
gdr_status gdr_matrix_product_sgemm(gdr_matrix_product* product, gdr_transpose transpose_a,
                                    gdr_transpose transpose_b, size_t m, size_t n, size_t k,
                                    float alpha, const float* a, size_t lda, const float* b,
                                    size_t ldb, float beta, float* c, size_t ldc);
/* Declare that B of the next call (that one only) is unchanged since the last call: same address,
 * shape and elements. Parts of it that are resident on the boards are not sent again. */
gdr_status gdr_matrix_product_reuse_b(gdr_matrix_product* product);

/* Factorisations and solves of matrices by columns; see gdr/linear.hpp. Products of fewer than
 * device_flops operations stay on the host; a negative number means the default, 2^24. */
gdr_status gdr_linear_solver_create(gdr_device* device, gdr_matrix_precision precision,
                                    double device_flops, gdr_linear_solver** solver);
void gdr_linear_solver_free(gdr_linear_solver* solver);
/* P A = L U in place: row i is exchanged with row pivots[i], for min(m, n) pivots, counted from 0.
 * zero_pivot is the index of the first pivot that is exactly zero, or -1. */
gdr_status gdr_linear_lu(gdr_linear_solver* solver, size_t m, size_t n, double* a, size_t lda,
                         int64_t* pivots, int64_t* zero_pivot);
/* op(A) X = B from the factors; B becomes X. */
gdr_status gdr_linear_solve(gdr_linear_solver* solver, gdr_transpose transpose, size_t n,
                            size_t columns, const double* lu, size_t ldlu, const int64_t* pivots,
                            double* b, size_t ldb);
/* A = L L^T or U^T U in place. bad_pivot is the index of the first pivot that is not positive,
 * where the factorisation ends, or -1. */
gdr_status gdr_linear_cholesky(gdr_linear_solver* solver, gdr_triangle triangle, size_t n,
                               double* a, size_t lda, int64_t* bad_pivot);
/* A X = B from the Cholesky factor; B becomes X. */
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

/* Batches of small matrices; see gdr/batch.hpp. Matrix i of a batch is at a + i * step_a. The
 * device must stay open until the handle is freed. */
gdr_status gdr_batched_matrices_create(gdr_device* device, gdr_batched_matrices** batch);
void gdr_batched_matrices_free(gdr_batched_matrices* batch);
/* C = A B for each matrix: a(m, k), b(k, n), c(m, n). */
gdr_status gdr_batched_multiply(gdr_batched_matrices* batch, size_t count, size_t m, size_t n,
                                size_t k, const double* a, size_t lda, size_t step_a,
                                const double* b, size_t ldb, size_t step_b, double* c, size_t ldc,
                                size_t step_c);
/* P A = L U in place for each matrix: a(n, n), pivots(n), which count from 0. `singular` is the
 * number of matrices with a pivot that is exactly zero. */
gdr_status gdr_batched_lu(gdr_batched_matrices* batch, size_t count, size_t n, double* a,
                          size_t lda, size_t step_a, int64_t* pivots, size_t* singular);
/* A X = B for each matrix from the factors: lu(n, n), pivots(n), b(n, columns); B becomes X. */
gdr_status gdr_batched_solve(gdr_batched_matrices* batch, size_t count, size_t n, size_t columns,
                             const double* lu, size_t ldlu, size_t step_lu, const int64_t* pivots,
                             double* b, size_t ldb, size_t step_b);

#ifdef __cplusplus
}
#endif

#undef GDR_INT
#endif /* GDR_H */
