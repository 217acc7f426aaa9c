// The kernels on doubles for avx512; compiled with its flags (see emulator/CMakeLists.txt).
#include "emulator/engine/vector/doubles/kernels.hpp"

#if defined(__x86_64__)
#include "emulator/engine/vector/doubles/host_avx512.hpp"

namespace gdr {

const DoublesKernels& doubles_kernels_avx512() noexcept {
  static constexpr DoublesKernels kernels = DoublesMaker<HostAvx512>::make();
  return kernels;
}

}  // namespace gdr
#endif
