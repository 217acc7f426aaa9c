// Selection of host functions, and those for any machine.
#include "libgdr/dense/host/functions.hpp"

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

const HostFunctions& host_functions_portable() noexcept { return HostLoops<Portable>::functions; }

const HostFunctions* host_functions_of(Isa isa) noexcept {
#if defined(__x86_64__)
  if (isa == Isa::Avx512) return &host_functions_avx512();
  if (isa == Isa::Avx2) return &host_functions_avx2();
#endif
  return isa == Isa::Portable ? &host_functions_portable() : nullptr;
}

const HostFunctions& host_functions() noexcept {
  static const HostFunctions& chosen = []() -> const HostFunctions& {
    const std::vector<Isa> isas = host_isas();
    const char* const name = std::getenv("GDR_ISA");
    const auto wanted = find_isa(name == nullptr ? "" : name);
    const bool known = wanted && std::ranges::find(isas, *wanted) != isas.end();
    const HostFunctions* const found = host_functions_of(known ? *wanted : isas.front());
    return found != nullptr ? *found : host_functions_portable();
  }();
  return chosen;
}

}  // namespace gdr::dense
