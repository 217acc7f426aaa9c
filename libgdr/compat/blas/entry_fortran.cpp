// Entry points dgemm_ and sgemm_, with the names and sizes of wheels.
#include <cctype>

#include "libgdr/compat/blas/arguments.hpp"
#include "libgdr/compat/blas/gemm.hpp"

namespace gdr::blas {
namespace {

char capital(char x) noexcept {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(x)));
}

template <typename Number>
void checked(const Call<Number>& call) noexcept {
  if (const int number = wrong_argument(call))
    return report_fortran(call.caller, gemm_of<Number>, number);
  multiply(call);
}

}  // namespace
}  // namespace gdr::blas

/// Fortran passes the lengths of trans_a and trans_b after the last argument; they are ignored.
#define GDR_GEMM(name, Number, Int, caller)                                                   \
  extern "C" [[gnu::visibility("default")]] void name(                                        \
      const char* trans_a, const char* trans_b, const Int* m, const Int* n, const Int* k,     \
      const Number* alpha, const Number* a, const Int* lda, const Number* b, const Int* ldb,  \
      const Number* beta, Number* c, const Int* ldc) {                                        \
    gdr::blas::checked<Number>({gdr::blas::Caller::caller, gdr::blas::capital(*trans_a),      \
                                gdr::blas::capital(*trans_b), *m, *n, *k, *alpha, a, *lda, b, \
                                *ldb, *beta, c, *ldc});                                       \
  }

GDR_GEMM(dgemm_, double, std::int32_t, System)
GDR_GEMM(sgemm_, float, std::int32_t, System)
GDR_GEMM(scipy_dgemm_, double, std::int32_t, Wheel)
GDR_GEMM(scipy_sgemm_, float, std::int32_t, Wheel)
GDR_GEMM(scipy_dgemm_64_, double, std::int64_t, Wheel)
GDR_GEMM(scipy_sgemm_64_, float, std::int64_t, Wheel)
// Wheels of NumPy 1.
GDR_GEMM(dgemm_64_, double, std::int64_t, Wheel)
GDR_GEMM(sgemm_64_, float, std::int64_t, Wheel)
