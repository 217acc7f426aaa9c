#include "emulator/host/isa.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace gdr {
namespace {

constexpr std::array<std::string_view, all_isas.size()> isas{"portable", "avx2", "avx512", "neon"};

bool host_has([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (isa == Isa::Avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa == Isa::Avx512) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd");
  }
#elif defined(__aarch64__)
  if (isa == Isa::Neon) return true;  // a part of the architecture
#endif
  return isa == Isa::Portable;
}

}  // namespace

std::string_view isa_name(Isa isa) noexcept { return isas[static_cast<std::size_t>(isa)]; }

std::optional<Isa> find_isa(std::string_view name) noexcept {
  const auto* found = std::find(isas.begin(), isas.end(), name);
  if (found == isas.end()) return std::nullopt;
  return static_cast<Isa>(found - isas.begin());
}

std::vector<Isa> host_isas() {
  std::vector<Isa> list;
  for (Isa isa : {Isa::Avx512, Isa::Avx2, Isa::Neon, Isa::Portable}) {
    if (host_has(isa)) list.push_back(isa);
  }
  return list;
}

bool prefers_square_root_instruction() {
  if (const char* const chosen = std::getenv("GDR_SQUARE_ROOT"); chosen != nullptr)
    return std::string_view(chosen) == "instruction";
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

}  // namespace gdr
