// Host functions for AVX-512, compiled with its flags (see libgdr/CMakeLists.txt).
#if defined(__x86_64__)
#include "libgdr/dense/host/loops.hpp"

namespace gdr::dense {
namespace {

struct Avx512 {
  static constexpr Isa isa = Isa::Avx512;
  static constexpr std::size_t width = 8, bytes = 64, parts = 3, columns = 8;
};

}  // namespace

const HostFunctions& host_functions_avx512() noexcept { return HostLoops<Avx512>::functions; }

}  // namespace gdr::dense
#endif
