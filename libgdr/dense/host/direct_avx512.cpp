// Direct products for AVX-512, compiled with its flags (see libgdr/CMakeLists.txt).
#if defined(__x86_64__)
#include "libgdr/dense/host/direct_loops.hpp"
#include "libgdr/dense/host/factor_loops.hpp"

namespace gdr::dense {
namespace {

struct DirectAvx512 {
  static constexpr std::size_t bytes = 64, parts = 3, columns = 8;
};

}  // namespace

const DirectSet& direct_avx512() noexcept {
  static constexpr DirectSet set{DirectLoops<DirectAvx512, double>::functions(),
                                 DirectLoops<DirectAvx512, float>::functions(),
                                 FactorLoops<DirectAvx512>::functions()};
  return set;
}

}  // namespace gdr::dense
#endif
