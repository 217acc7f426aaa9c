// The strip kernels for avx512; compiled with its flags (see emulator/CMakeLists.txt).
#include "emulator/engine/vector/kernels.hpp"

#if defined(__x86_64__)
#include "emulator/engine/vector/lanes_avx512.hpp"

namespace gdr {

const StripKernels& avx512_kernels() noexcept {
  static constexpr StripKernels kernels = make_kernels<Avx512Lanes, ScalarLanes<2>>();
  return kernels;
}

}  // namespace gdr
#else
namespace gdr {

const StripKernels& avx512_kernels() noexcept { return portable_kernels(); }

}  // namespace gdr
#endif
