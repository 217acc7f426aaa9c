// The exported products: xGEMM of Fortran and cblas_xGEMM, with the names and sizes of wheels, and
// reports of wrong arguments as the reference BLAS makes them. (The C entry points of OpenBLAS do
// not call the Fortran ones, so both are needed.)
#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "libgdr/compat/blas/blas.hpp"

extern "C" int RowMajorStrg;
extern "C" const char gdrblas_version[];

namespace gdr::blas {
namespace {

using Xerbla = void (*)(const char*, const void*, std::size_t);
using CblasXerbla = void (*)(int, const char*, const char*, ...);

/// The routine that a call by name would find: the program's own if it defines one.
template <typename Function>
Function global(const char* name) noexcept {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

Xerbla xerbla(Caller caller) noexcept {
  if (caller == Caller::Wheel) {
    for (const char* name : {"scipy_xerbla_64_", "scipy_xerbla_", "xerbla_64_"})
      if (void* const routine = wheel_routine(name)) return reinterpret_cast<Xerbla>(routine);
  }
  return global<Xerbla>("xerbla_");
}

void report_to_cblas(Routine routine, int number, const char* form, int value) {
  const std::string name = std::string("cblas_") + routine_names[std::size_t(routine)];
  if (const auto to = global<CblasXerbla>("cblas_xerbla"))
    return to(number, name.c_str(), form, value);
  report("argument " + std::to_string(number) + " of " + name + " is wrong");
}

/// Whether an address belongs to this library.
bool is_own(const void* address) noexcept {
  Dl_info info, own;
  return dladdr(address, &info) != 0 && dladdr(gdrblas_version, &own) != 0 &&
         info.dli_fbase == own.dli_fbase;
}

/// Whether cblas_xerbla reads RowMajorStrg: that of the reference does, and the program's own may
/// if the program defines the variable.
bool reference_convention() noexcept {
  if (is_own(global<void*>("cblas_xerbla"))) return host_routine("RowMajorStrg") != nullptr;
  return !is_own(&RowMajorStrg);
}

/// The number of the argument of the C routine, in the order of the caller.
int c_argument(int fortran, bool row_major) noexcept {
  const int number = fortran + 1;
  if (!row_major) return number;
  for (const auto& [x, y] : {std::pair(4, 5), std::pair(9, 11)}) {  // m and n; lda and ldb
    if (number == x) return y;
    if (number == y) return x;
  }
  return number;
}

/// Report argument `number` of the Fortran routine to xerbla_, the program's own if it defines one.
/// In wheels, xerbla has another name.
void report_fortran(Caller caller, Routine routine, int number) noexcept {
  std::string name(routine_names[std::size_t(routine)]);
  for (char& c : name) c = static_cast<char>(std::toupper(c));
  name.resize(6, ' ');
  const std::int64_t info = number;  // read as 32 or as 64 bits
  if (const Xerbla to = xerbla(caller)) return to(name.c_str(), &info, name.size());
  report("argument " + std::to_string(number) + " of " + name + " is wrong");
}

/// Report to cblas_xerbla that layout, trans_a or trans_b (1, 2, 3) has the invalid `value`.
void report_setting(Routine routine, int number, int value) noexcept {
  static constexpr const char* forms[] = {"Illegal Order setting, %d\n",
                                          "Illegal TransA setting, %d\n",
                                          "Illegal TransB setting, %d\n"};
  report_to_cblas(routine, number, forms[number - 1], value);
}

/// Report to cblas_xerbla argument `number` of the Fortran routine. The C routine has the layout as
/// an additional first argument, and in row-major order A and B are swapped, which the reference
/// cblas_xerbla corrects itself.
void report_c(Routine routine, int number, bool row_major) noexcept {
  if (!reference_convention())
    return report_to_cblas(routine, c_argument(number, row_major), "", 0);
  RowMajorStrg = row_major;
  report_to_cblas(routine, number + 1, "", 0);
  RowMajorStrg = 0;
}

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
void c_gemm(int layout, int trans_a, int trans_b, Call<Number> call) noexcept {
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

char capital(char x) noexcept {
  return static_cast<char>(std::toupper(static_cast<unsigned char>(x)));
}

template <typename Number>
void fortran_gemm(const Call<Number>& call) noexcept {
  if (const int number = wrong_argument(call))
    return report_fortran(call.caller, gemm_of<Number>, number);
  multiply(call);
}

}  // namespace
}  // namespace gdr::blas

#define GDR_CBLAS_GEMM(name, Number, Int, caller)                                               \
  extern "C" [[gnu::visibility("default")]] void name(                                          \
      int layout, int trans_a, int trans_b, Int m, Int n, Int k, Number alpha, const Number* a, \
      Int lda, const Number* b, Int ldb, Number beta, Number* c, Int ldc) {                     \
    gdr::blas::c_gemm<Number>(                                                                  \
        layout, trans_a, trans_b,                                                               \
        {gdr::blas::Caller::caller, 'N', 'N', m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});   \
  }

GDR_CBLAS_GEMM(cblas_dgemm, double, std::int32_t, System)
GDR_CBLAS_GEMM(cblas_sgemm, float, std::int32_t, System)
GDR_CBLAS_GEMM(scipy_cblas_dgemm, double, std::int32_t, Wheel)
GDR_CBLAS_GEMM(scipy_cblas_sgemm, float, std::int32_t, Wheel)
GDR_CBLAS_GEMM(scipy_cblas_dgemm64_, double, std::int64_t, Wheel)
GDR_CBLAS_GEMM(scipy_cblas_sgemm64_, float, std::int64_t, Wheel)
// Wheels of NumPy 1.
GDR_CBLAS_GEMM(cblas_dgemm64_, double, std::int64_t, Wheel)
GDR_CBLAS_GEMM(cblas_sgemm64_, float, std::int64_t, Wheel)

/// Fortran passes the lengths of trans_a and trans_b after the last argument; they are ignored.
#define GDR_GEMM(name, Number, Int, caller)                                                        \
  extern "C" [[gnu::visibility("default")]] void name(                                             \
      const char* trans_a, const char* trans_b, const Int* m, const Int* n, const Int* k,          \
      const Number* alpha, const Number* a, const Int* lda, const Number* b, const Int* ldb,       \
      const Number* beta, Number* c, const Int* ldc) {                                             \
    gdr::blas::fortran_gemm<Number>({gdr::blas::Caller::caller, gdr::blas::capital(*trans_a),      \
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
