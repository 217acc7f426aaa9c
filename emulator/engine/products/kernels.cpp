#include "emulator/engine/products/kernels.hpp"

namespace gdr {

const ProductKernels* products_of([[maybe_unused]] Isa isa, [[maybe_unused]] bool exact) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return exact ? &exact_products_avx512() : &fast_products_avx512();
  if (isa == Isa::Avx2) return exact ? &exact_products_avx2() : &fast_products_avx2();
#endif
  return nullptr;
}

}  // namespace gdr
