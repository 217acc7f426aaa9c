// The kernels on doubles for avx2; compiled with its flags (see emulator/CMakeLists.txt).
#include "emulator/engine/vector/doubles/kernels.hpp"

#if defined(__x86_64__)
#include "emulator/engine/vector/doubles/host_avx2.hpp"

namespace gdr {

const DoublesKernels& doubles_kernels_avx2(std::uint32_t batch) noexcept {
  static constexpr DoublesKernels wide = DoublesMaker<HostAvx2>::make(wide_batch);
  static constexpr DoublesKernels narrow = DoublesMaker<HostAvx2>::make(narrow_batch);
  return batch == narrow_batch ? narrow : wide;
}

}  // namespace gdr
#endif
