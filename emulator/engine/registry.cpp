// Engines by name, and which instruction sets this host has.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "emulator/engine/engine.hpp"
#include "emulator/engine/native/native.hpp"
#include "emulator/engine/reference/reference.hpp"
#include "emulator/engine/vector/vector.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

constexpr std::array<std::string_view, 4> engines{"reference", "vector", "native", "native-float"};
constexpr std::array<std::string_view, 3> isas{"portable", "avx2", "avx512"};

std::string_view or_environment(std::string_view value, const char* variable) {
  if (!value.empty()) return value;
  const char* text = std::getenv(variable);
  return text != nullptr ? std::string_view(text) : std::string_view();
}

template <typename Names>
std::string list(const Names& names) {
  std::string text;
  for (std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

bool host_has([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (isa == Isa::Avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa == Isa::Avx512) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd");
  }
#endif
  return isa == Isa::Portable;
}

Isa choose_isa(std::string_view name) {
  if (name.empty()) return host_isas().front();
  const auto isa = find_isa(name);
  if (!isa) {
    throw Error(ErrorCategory::Usage, "instruction set '" + std::string(name) +
                                          "' is not known; there are " + list(isas));
  }
  if (!host_has(*isa)) {
    throw Error(ErrorCategory::Unsupported,
                "this host has no " + std::string(name) + "; 'gdr info' lists what it has");
  }
  return *isa;
}

}  // namespace

std::span<const std::string_view> engine_names() noexcept { return engines; }

std::string_view isa_name(Isa isa) noexcept { return isas[static_cast<std::size_t>(isa)]; }

std::optional<Isa> find_isa(std::string_view name) noexcept {
  const auto* found = std::find(isas.begin(), isas.end(), name);
  if (found == isas.end()) return std::nullopt;
  return static_cast<Isa>(found - isas.begin());
}

std::vector<Isa> host_isas() {
  std::vector<Isa> list;
  for (Isa isa : {Isa::Avx512, Isa::Avx2, Isa::Portable}) {
    if (host_has(isa)) list.push_back(isa);
  }
  return list;
}

std::unique_ptr<Engine> make_engine(std::string_view name, std::string_view isa) {
  name = or_environment(name, "GDR_ENGINE");
  const Isa chosen = choose_isa(or_environment(isa, "GDR_ISA"));
  if (name.empty() || name == "vector") {
    return std::make_unique<VectorEngine>(chosen, or_environment("", "GDR_FUSE") != "0");
  }
  if (name == "reference") return std::make_unique<ReferenceEngine>();
  if (name == "native") return std::make_unique<NativeEngine>(chosen);
  if (name == "native-float") {
    return std::make_unique<NativeEngine>(chosen, native::Precision::Float);
  }
  throw Error(ErrorCategory::Usage,
              "engine '" + std::string(name) + "' is not known; there are " + list(engines));
}

}  // namespace gdr
