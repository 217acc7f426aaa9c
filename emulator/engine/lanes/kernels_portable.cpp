// The portable strip kernels, and the choice of kernels at run time.
#include "emulator/engine/lanes/kernels.hpp"
#include "emulator/host/isa.hpp"

namespace gdr {

const StripKernels& strip_kernels([[maybe_unused]] Isa isa) noexcept {
  static constexpr StripKernels portable = make_kernels<ScalarLanes<0>, ScalarLanes<0>>();
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return avx512_kernels();
  if (isa == Isa::Avx2) return avx2_kernels();
#elif defined(__aarch64__)
  if (isa == Isa::Neon) return neon_kernels();
#endif
  return portable;
}

}  // namespace gdr
