// The strip kernels for avx2; compiled with its flags (see emulator/CMakeLists.txt).
#include "emulator/engine/vector/kernels.hpp"

#if defined(__x86_64__)
#include "emulator/engine/vector/lanes_avx2.hpp"

namespace gdr {

const StripKernels& avx2_kernels() noexcept {
  static constexpr StripKernels kernels = make_kernels<Avx2Lanes, ScalarLanes<1>>();
  return kernels;
}

}  // namespace gdr
#else
namespace gdr {

const StripKernels& avx2_kernels() noexcept { return portable_kernels(); }

}  // namespace gdr
#endif
