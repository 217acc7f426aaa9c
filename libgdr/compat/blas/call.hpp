// A product in the common form of all entry points: column-major, 64-bit sizes, by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gdr::blas {

/// Routines that run on the device.
enum class Routine : std::uint8_t { Dgemm, Sgemm };
constexpr std::size_t routines = 2;
constexpr const char* routine_names[routines] = {"dgemm", "sgemm"};

template <typename Number>
constexpr Routine gemm_of = std::is_same_v<Number, double> ? Routine::Dgemm : Routine::Sgemm;

/// The symbol names that a program uses: those of a system BLAS, or those of the BLAS in the wheels
/// of NumPy and SciPy (prefix `scipy_`). Fallbacks and error reports use the same library.
enum class Caller : std::uint8_t { System, Wheel };

/// C = alpha op(A) op(B) + beta C, arguments as in xGEMM of BLAS.
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

/// Floating-point operations.
template <typename Number>
double flops(const Call<Number>& call) noexcept {
  return 2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) *
         static_cast<double>(call.k);
}

}  // namespace gdr::blas
