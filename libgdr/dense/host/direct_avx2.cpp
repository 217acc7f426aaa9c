// Direct products for AVX2, compiled with its flags (see libgdr/CMakeLists.txt).
#if defined(__x86_64__)
#include "libgdr/dense/host/direct_loops.hpp"
#include "libgdr/dense/host/factor_loops.hpp"

namespace gdr::dense {
namespace {

struct DirectAvx2 {
  static constexpr std::size_t bytes = 32, parts = 3, columns = 4;
};

}  // namespace

const DirectSet& direct_avx2() noexcept {
  static constexpr DirectSet set{DirectLoops<DirectAvx2, double>::functions(),
                                 DirectLoops<DirectAvx2, float>::functions(),
                                 FactorLoops<DirectAvx2>::functions()};
  return set;
}

}  // namespace gdr::dense
#endif
