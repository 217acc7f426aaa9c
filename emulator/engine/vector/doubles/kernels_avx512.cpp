// The kernels on doubles for avx512; compiled with its flags (see emulator/CMakeLists.txt).
#include "emulator/engine/vector/doubles/kernels.hpp"

#if defined(__x86_64__)
#include "emulator/engine/vector/doubles/host_avx512.hpp"

namespace gdr {

const DoublesKernels& doubles_kernels_avx512(std::uint32_t batch) noexcept {
  static constexpr DoublesKernels wide = DoublesMaker<HostAvx512<wide_batch>>::make(wide_batch);
  static constexpr DoublesKernels narrow =
      DoublesMaker<HostAvx512<narrow_batch>>::make(narrow_batch);
  return batch == narrow_batch ? narrow : wide;
}

}  // namespace gdr
#endif
