// Entry points cblas_dgemm and cblas_sgemm, with the names and sizes of wheels. (Those of OpenBLAS
// do not call the Fortran entry points, so both are needed.)
#include <utility>

#include "libgdr/compat/blas/arguments.hpp"
#include "libgdr/compat/blas/gemm.hpp"

namespace gdr::blas {
namespace {

// Values of CBLAS's enumerations.
constexpr int row_major = 101, column_major = 102;
constexpr int no_trans = 111, trans = 112, conj_trans = 113;

/// The letter of a CBLAS setting; '?' for an invalid one.
char letter(int setting) noexcept {
  return setting == no_trans ? 'N' : setting == trans ? 'T' : setting == conj_trans ? 'C' : '?';
}

/// The transposed product: rows of C are columns, and A and B are swapped.
template <typename Number>
void transpose(Call<Number>& call) noexcept {
  std::swap(call.trans_a, call.trans_b);
  std::swap(call.m, call.n);
  std::swap(call.a, call.b);
  std::swap(call.lda, call.ldb);
}

template <typename Number>
void checked(int layout, int trans_a, int trans_b, Call<Number> call) noexcept {
  constexpr Routine routine = gemm_of<Number>;
  call.trans_a = letter(trans_a);
  call.trans_b = letter(trans_b);
  if (layout == row_major) transpose(call);
  const bool wheel = call.caller == Caller::Wheel;
  if (!wheel) {
    if (layout != row_major && layout != column_major) return report_setting(routine, 1, layout);
    if (letter(trans_a) == '?') return report_setting(routine, 2, trans_a);
    if (letter(trans_b) == '?') return report_setting(routine, 3, trans_b);
  }
  const bool known = layout == row_major || layout == column_major;
  const int number = known ? wrong_argument(call) : 0;
  if (known && number == 0) return multiply(call);
  // The BLAS of wheels has no cblas_xerbla.
  if (wheel) return report_fortran(call.caller, routine, number);
  report_c(routine, number, layout == row_major);
}

}  // namespace
}  // namespace gdr::blas

#define GDR_GEMM(name, Number, Int, caller)                                                     \
  extern "C" [[gnu::visibility("default")]] void name(                                          \
      int layout, int trans_a, int trans_b, Int m, Int n, Int k, Number alpha, const Number* a, \
      Int lda, const Number* b, Int ldb, Number beta, Number* c, Int ldc) {                     \
    gdr::blas::checked<Number>(                                                                 \
        layout, trans_a, trans_b,                                                               \
        {gdr::blas::Caller::caller, 'N', 'N', m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});   \
  }

GDR_GEMM(cblas_dgemm, double, std::int32_t, System)
GDR_GEMM(cblas_sgemm, float, std::int32_t, System)
GDR_GEMM(scipy_cblas_dgemm, double, std::int32_t, Wheel)
GDR_GEMM(scipy_cblas_sgemm, float, std::int32_t, Wheel)
GDR_GEMM(scipy_cblas_dgemm64_, double, std::int64_t, Wheel)
GDR_GEMM(scipy_cblas_sgemm64_, float, std::int64_t, Wheel)
// Wheels of NumPy 1.
GDR_GEMM(cblas_dgemm64_, double, std::int64_t, Wheel)
GDR_GEMM(cblas_sgemm64_, float, std::int64_t, Wheel)
