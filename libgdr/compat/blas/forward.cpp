// Resolution of the entries of forward_x86_64.S: each is looked up by its first call.
#include <unistd.h>

#include <atomic>
#include <string>

#include "libgdr/compat/blas/blas.hpp"

#if !defined(__x86_64__)
#error "forward_x86_64.S is for x86-64"
#endif

extern "C" {

/// Address of each routine, or of the code that calls gdrblas_resolve.
extern std::atomic<void*> gdrblas_slots[];

/// The two variables of the reference CBLAS that programs know: while RowMajorStrg is set, numbers
/// of arguments given to cblas_xerbla count the arguments of the transposed call.
[[gnu::visibility("default")]] int RowMajorStrg = 0;
[[gnu::visibility("default")]] int CBLAS_CallFromC = 0;

/// The host's routine of that index. Ends the process if it does not exist, as the dynamic linker
/// does for an undefined symbol.
void* gdrblas_resolve(unsigned index) {
#define NAME(name) #name,
  static constexpr const char* names[] = {
#include "names.inc"
  };
#undef NAME
  void* const routine = gdr::blas::host_routine(names[index]);
  if (routine == nullptr) {
    gdr::blas::report(std::string("the host's BLAS (") + gdr::blas::host_path() + ") has no " +
                      names[index] + "; choose another with GDR_BLAS_HOST=PATH");
    _exit(127);
  }
  gdrblas_slots[index].store(routine, std::memory_order_release);
  return routine;
}

}  // extern "C"
