// Checks of the arguments of xGEMM, and reports of wrong ones.
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

/// Report argument `number` of the Fortran routine to xerbla_, the program's own if it defines one.
/// In wheels, xerbla has another name.
void report_fortran(Caller caller, Routine routine, int number) noexcept;

/// Report to cblas_xerbla that layout, trans_a or trans_b (1, 2, 3) has the invalid `value`.
void report_setting(Routine routine, int number, int value) noexcept;

/// Report to cblas_xerbla argument `number` of the Fortran routine. The C routine has the layout as
/// an additional first argument, and in row-major order A and B are swapped, which the reference
/// cblas_xerbla corrects itself.
void report_c(Routine routine, int number, bool row_major) noexcept;

}  // namespace gdr::blas
