// Engines by name.
#include <algorithm>
#include <cstdlib>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/reference/reference.hpp"
#include "emulator/engine/registry/native_engines.hpp"
#include "emulator/engine/vector/vector.hpp"
#include "gdr/error.hpp"

namespace gdr {
namespace {

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

Isa choose_isa(std::string_view name) {
  if (name.empty()) return host_isas().front();
  const auto isa = find_isa(name);
  if (!isa) {
    std::vector<std::string_view> known;
    for (const Isa one : all_isas) known.push_back(isa_name(one));
    throw Error(ErrorCategory::Usage, "instruction set '" + std::string(name) +
                                          "' is not known; there are " + list(known));
  }
  const std::vector<Isa> here = host_isas();
  if (std::ranges::find(here, *isa) == here.end()) {
    throw Error(ErrorCategory::Unsupported,
                "this host has no " + std::string(name) + "; 'gdr info' lists what it has");
  }
  return *isa;
}

}  // namespace

std::vector<std::string_view> engine_names() {
  std::vector<std::string_view> names;
  for (const EngineEntry& entry : engine_table()) names.push_back(entry.name);
  return names;
}

std::string_view engine_without_alias(std::string_view name) noexcept {
  return name == "exact" ? "vector" : name;
}

std::unique_ptr<Engine> make_engine(std::string_view name, std::string_view isa) {
  name = engine_without_alias(or_environment(name, "GDR_ENGINE"));
  const Isa chosen = choose_isa(or_environment(isa, "GDR_ISA"));
  const bool jit = or_environment("", "GDR_JIT") != "0";
  if (name.empty() || name == "vector") return std::make_unique<VectorEngine>(chosen, jit);
  if (name == "reference") return std::make_unique<ReferenceEngine>();
  if (auto engine = native::make_native_engine(name, chosen, jit)) return engine;
  throw Error(ErrorCategory::Usage,
              "engine '" + std::string(name) + "' is not known; there are " + list(engine_names()));
}

}  // namespace gdr
