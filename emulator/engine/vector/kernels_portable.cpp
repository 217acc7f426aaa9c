// The strip kernels for portable; compiled with its flags (see emulator/CMakeLists.txt).
#include "emulator/engine/vector/kernels.hpp"

namespace gdr {

const StripKernels& portable_kernels() noexcept {
  static constexpr StripKernels kernels = make_kernels<ScalarLanes<0>, ScalarLanes<0>>();
  return kernels;
}

}  // namespace gdr
