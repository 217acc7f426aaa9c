// Selection of host kernels, and those for any machine.
#include "libgdr/dense/host/kernels.hpp"

#include <algorithm>
#include <cstdlib>

#include "libgdr/dense/host/loops.hpp"

namespace gdr::dense {
namespace {

struct Portable {
  static constexpr Isa isa = Isa::Portable;
  static constexpr std::size_t width = 2, bytes = 16, parts = 2, columns = 4;
};

}  // namespace

const HostKernels& host_kernels_portable() noexcept { return HostLoops<Portable>::kernels; }

const HostKernels* host_kernels_of(Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return &host_kernels_avx512();
  if (isa == Isa::Avx2) return &host_kernels_avx2();
#endif
  return isa == Isa::Portable ? &host_kernels_portable() : nullptr;
}

const HostKernels& host_kernels() noexcept {
  static const HostKernels& chosen = []() -> const HostKernels& {
    const std::vector<Isa> isas = host_isas();
    const char* const name = std::getenv("GDR_ISA");
    const auto wanted = find_isa(name == nullptr ? "" : name);
    const bool known = wanted && std::ranges::find(isas, *wanted) != isas.end();
    const HostKernels* const found = host_kernels_of(known ? *wanted : isas.front());
    return found != nullptr ? *found : host_kernels_portable();
  }();
  return chosen;
}

}  // namespace gdr::dense
