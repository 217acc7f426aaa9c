// The rules for arguments of xGEMM, and whom a wrong one is reported to.
#pragma once

#include <algorithm>

#include "libgdr/compat/blas/call.hpp"

namespace gdr::blas {

/// The number of the first argument of the Fortran routine that breaks a rule, or 0.
template <typename Number>
int wrong_argument(const Call<Number>& call) noexcept {
  const auto letter = [](char x) { return x == 'N' || x == 'T' || x == 'C'; };
  const auto rows = [](std::int64_t x) { return std::max<std::int64_t>(x, 1); };
  if (!letter(call.trans_a)) return 1;
  if (!letter(call.trans_b)) return 2;
  if (call.m < 0) return 3;
  if (call.n < 0) return 4;
  if (call.k < 0) return 5;
  if (call.lda < rows(call.trans_a == 'N' ? call.m : call.k)) return 8;
  if (call.ldb < rows(call.trans_b == 'N' ? call.k : call.n)) return 10;
  if (call.ldc < rows(call.m)) return 13;
  return 0;
}

/// To xerbla_, the program's own if it has one: argument `number` of the Fortran routine. A wheel's
/// BLAS has an xerbla of another name.
void report_fortran(Caller caller, Routine routine, int number) noexcept;

/// To cblas_xerbla: layout, trans_a or trans_b (1, 2, 3) is `value`.
void report_setting(Routine routine, int number, int value) noexcept;

/// To cblas_xerbla: argument `number` of the Fortran routine that does the call is wrong. The
/// argument of the C routine comes after the layout, and in row-major order A and B have changed
/// places, which the reference's cblas_xerbla takes back itself.
void report_c(Routine routine, int number, bool row_major) noexcept;

}  // namespace gdr::blas
