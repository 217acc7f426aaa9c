#include "emulator/engine/matmul/kernels.hpp"

#include "emulator/engine/matmul/fast_kernels.hpp"

namespace gdr {

const MatmulKernels* exact_matmul_of([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return &exact_matmul_avx512();
  if (isa == Isa::Avx2) return &exact_matmul_avx2();
#endif
  return nullptr;
}

const FastMatmulKernels* fast_matmul_of([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return &fast_matmul_avx512();
  if (isa == Isa::Avx2) return &fast_matmul_avx2();
#endif
  return nullptr;
}

}  // namespace gdr
