#include "emulator/engine/api/capabilities.hpp"

#include <algorithm>

namespace gdr {
namespace {

using enum EngineNumbers;

constexpr EngineEntry table[] = {
    {"reference", {.one_pe_at_a_time = true}},
    {"vector", {}},
    {"native",
     {.numbers = Doubles,
      .multiplies_all_bits = true,
      .multiplies_arrays = true,
      .leaves_out_far_pairs = true}},
    {"native-mixed", {.numbers = Floats, .multiplies_all_bits = true, .multiplies_arrays = true}},
    {"native-float",
     {.numbers = Floats,
      .rounds_inputs = true,
      .multiplies_all_bits = true,
      .multiplies_arrays = true}},
    {"native-fast",
     {.numbers = Floats,
      .rounds_inputs = true,
      .multiplies_all_bits = true,
      .multiplies_arrays = true}},
    {"gpu", {.numbers = Doubles, .uses_gpu = true, .multiplies_all_bits = true}},
    {"gpu-float",
     {.numbers = Floats, .uses_gpu = true, .rounds_inputs = true, .multiplies_all_bits = true}},
    {"gpu-exact", {.uses_gpu = true}},
};

}  // namespace

std::span<const EngineEntry> engine_table() noexcept { return table; }

Capabilities capabilities_of(std::string_view engine) noexcept {
  const std::string_view name = engine.substr(0, std::min(engine.find(':'), engine.size()));
  const auto* const found = std::ranges::find(table, name, &EngineEntry::name);
  return found != std::end(table) ? found->capabilities : Capabilities{};
}

}  // namespace gdr
