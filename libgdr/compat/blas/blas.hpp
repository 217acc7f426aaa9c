// libgdrblas: a product in the common form of all entry points, and what computes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "gdr/matrix.hpp"
#include "gdr/statistics.hpp"

namespace gdr::blas {

/// Routines that run on the device.
enum class Routine : std::uint8_t { Dgemm, Sgemm };
constexpr const char* routine_names[] = {"dgemm", "sgemm"};

template <typename Number>
constexpr Routine gemm_of = std::is_same_v<Number, double> ? Routine::Dgemm : Routine::Sgemm;

/// The symbol names that a program uses: those of a system BLAS, or those of the BLAS in the wheels
/// of NumPy and SciPy (prefix `scipy_`). Fallbacks and error reports use the same library.
enum class Caller : std::uint8_t { System, Wheel };

/// C = alpha op(A) op(B) + beta C, arguments as in xGEMM of BLAS: column-major, 64-bit sizes.
template <typename Number>
struct Call {
  Caller caller = Caller::System;
  char trans_a = 'N', trans_b = 'N';  ///< N, T or C, after the check of arguments
  std::int64_t m = 0, n = 0, k = 0;
  Number alpha = 0;
  const Number* a = nullptr;
  std::int64_t lda = 0;
  const Number* b = nullptr;
  std::int64_t ldb = 0;
  Number beta = 0;
  Number* c = nullptr;
  std::int64_t ldc = 0;
};

/// The product on the device or, if it has fewer operations than the threshold or the device cannot
/// compute it, on the host; counted. The arguments have been checked.
template <typename Number>
void multiply(const Call<Number>& call) noexcept;

/// The product on the device, which the first call opens; calls of several threads are serialised.
/// Returns false if the device failed: C is unchanged, and the first failure is reported on
/// standard error.
template <typename Number>
bool device_multiply(const Call<Number>& call) noexcept;

/// The product by the caller's BLAS; by plain loops if there is none, or if its 32-bit sizes are
/// too small for the matrices.
template <typename Number>
void host_multiply(const Call<Number>& call) noexcept;

/// A routine of the host's BLAS, or null. The first call opens it: GDR_BLAS_HOST ("none": nothing),
/// else the first of the usual names that can be opened and is not this library. (The next symbol
/// in load order is not enough: Python loads its libraries with local symbols.)
void* host_routine(const char* name) noexcept;

/// A routine of the BLAS inside a wheel that this process has loaded, or null.
void* wheel_routine(const char* name) noexcept;

/// Path of the library that host_routine opened, or "none".
const char* host_path() noexcept;

/// Add the work of the device between two readings of its statistics to a routine's counts.
void count_work(Routine routine, const Statistics& before, const Statistics& after) noexcept;

/// Reset the counts of products, for the child of a fork.
void reset_statistics() noexcept;

/// Settings from environment variables.
struct Settings {
  /// GDR_BLAS_THRESHOLD: products with fewer operations run on the host's BLAS. The guide
  /// (docs) describes the derivation of the default.
  double threshold = 2.0 * 256 * 256 * 256;
  MatrixPrecision precision = MatrixPrecision::Full;  ///< GDR_BLAS_PRECISION: full or chip
  /// GDR_BLAS_STATS: 1 or 0. With 1, each process prints at exit a line for each routine that was
  /// called: "gdrblas: dgemm device=N host=M empty=E flops=F clocks=C bytes_to_board=B
  /// bytes_from_board=B predicted_seconds=S". `empty` are products without elements, an inner
  /// dimension or a factor alpha; F the operations of device and host, and the rest is the
  /// device's.
  bool statistics = false;
  std::string host;  ///< GDR_BLAS_HOST: a library, or none; empty: search
};

/// Read once, at the first call. An invalid value is reported on standard error, and the default is
/// used.
const Settings& settings() noexcept;

/// Write one line to standard error in one call: "gdrblas: ...".
void report(const std::string& line) noexcept;

}  // namespace gdr::blas
