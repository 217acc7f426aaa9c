// Host kernels for any machine.
#include "libgdr/dense/host/loops.hpp"

namespace gdr::dense {
namespace {

struct Portable {
  static constexpr Isa isa = Isa::Portable;
  static constexpr std::size_t width = 2, parts = 2, columns = 4;
};

}  // namespace

const HostKernels& host_kernels_portable() noexcept { return HostLoops<Portable>::kernels; }

}  // namespace gdr::dense
