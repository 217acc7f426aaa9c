#include "gdr/statistics.hpp"

#include "emulator/engine/api/capabilities.hpp"

namespace gdr {

EngineNumbers numbers_of(std::string_view engine) noexcept {
  return capabilities_of(engine).numbers;
}

}  // namespace gdr
