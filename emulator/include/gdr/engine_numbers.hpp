// The numbers that an engine computes with.
#pragma once

#include <cstdint>

namespace gdr {

/// The numbers that an engine computes with: those of the chip, bit for bit, or the host's or a
/// GPU's doubles or floats.
enum class EngineNumbers : std::uint8_t { Machine, Doubles, Floats };

}  // namespace gdr
