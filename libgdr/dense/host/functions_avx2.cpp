// Host functions for AVX2, compiled with its flags (see libgdr/CMakeLists.txt).
#if defined(__x86_64__)
#include "libgdr/dense/host/loops.hpp"

namespace gdr::dense {
namespace {

struct Avx2 {
  static constexpr Isa isa = Isa::Avx2;
  static constexpr std::size_t width = 4, bytes = 32, parts = 2, columns = 6;
};

}  // namespace

const HostFunctions& host_functions_avx2() noexcept { return HostLoops<Avx2>::functions; }

}  // namespace gdr::dense
#endif
