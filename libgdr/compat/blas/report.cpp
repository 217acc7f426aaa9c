// Reports of wrong arguments, as the reference BLAS makes them.
#include <dlfcn.h>

#include <cctype>
#include <string>

#include "libgdr/compat/blas/arguments.hpp"
#include "libgdr/compat/blas/host.hpp"
#include "libgdr/compat/blas/settings.hpp"

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

std::string c_name(Routine routine) {
  return std::string("cblas_") + routine_names[static_cast<std::size_t>(routine)];
}

void report_to_cblas(Routine routine, int number, const char* form, int value) {
  const std::string name = c_name(routine);
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
  switch (number) {
    case 4:
      return 5;  // m and n
    case 5:
      return 4;
    case 9:
      return 11;  // lda and ldb
    case 11:
      return 9;
    default:
      return number;
  }
}

}  // namespace

void report_fortran(Caller caller, Routine routine, int number) noexcept {
  std::string name(routine_names[static_cast<std::size_t>(routine)]);
  for (char& c : name) c = static_cast<char>(std::toupper(c));
  name.resize(6, ' ');
  const std::int64_t info = number;  // read as 32 or as 64 bits
  if (const Xerbla to = xerbla(caller)) return to(name.c_str(), &info, name.size());
  report("argument " + std::to_string(number) + " of " + name + " is wrong");
}

void report_setting(Routine routine, int number, int value) noexcept {
  static constexpr const char* forms[] = {"Illegal Order setting, %d\n",
                                          "Illegal TransA setting, %d\n",
                                          "Illegal TransB setting, %d\n"};
  report_to_cblas(routine, number, forms[number - 1], value);
}

void report_c(Routine routine, int number, bool row_major) noexcept {
  if (!reference_convention())
    return report_to_cblas(routine, c_argument(number, row_major), "", 0);
  RowMajorStrg = row_major;
  report_to_cblas(routine, number + 1, "", 0);
  RowMajorStrg = 0;
}

}  // namespace gdr::blas
