#include "emulator/engine/products/kernels.hpp"

#include "emulator/engine/products/fast_kernels.hpp"

namespace gdr {

const ProductKernels* exact_products_of([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return &exact_products_avx512();
  if (isa == Isa::Avx2) return &exact_products_avx2();
#endif
  return nullptr;
}

const FastKernels* fast_products_of([[maybe_unused]] Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return &fast_products_avx512();
  if (isa == Isa::Avx2) return &fast_products_avx2();
#endif
  return nullptr;
}

}  // namespace gdr
