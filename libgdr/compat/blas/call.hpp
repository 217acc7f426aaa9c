// A product as every entry hands it on: columns first, 64-bit sizes, arguments by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gdr::blas {

/// The routines that the device does; names are in `routine_names`.
enum class Routine : std::uint8_t { Dgemm, Sgemm };
constexpr std::size_t routines = 2;
constexpr const char* routine_names[routines] = {"dgemm", "sgemm"};

template <typename Number>
constexpr Routine gemm_of = std::is_same_v<Number, double> ? Routine::Dgemm : Routine::Sgemm;

/// Whose names a program calls: those of a system's BLAS, or those of the BLAS inside the wheels of
/// NumPy and SciPy (`scipy_` in front). What the host does and errors go back to the same.
enum class Caller : std::uint8_t { System, Wheel };

/// C = alpha op(A) op(B) + beta C as xGEMM of BLAS has it.
template <typename Number>
struct Call {
  Caller caller = Caller::System;
  char trans_a = 'N', trans_b = 'N';  ///< N, T or C in capitals, once the arguments are checked
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

/// Operations, products and sums each one.
template <typename Number>
double flops(const Call<Number>& call) noexcept {
  return 2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) *
         static_cast<double>(call.k);
}

}  // namespace gdr::blas
