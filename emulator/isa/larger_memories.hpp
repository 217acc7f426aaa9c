// Memories for engines that need no chip.
#pragma once

#include "emulator/isa/geometry.hpp"

namespace gdr {

/// Memories with four times the words: a kernel whose numbers all are longs finds room there where
/// the machine's own memories are too small.
constexpr Geometry larger_memories(Geometry geometry) noexcept {
  const auto times_four = [](std::uint32_t words) {
    return words > GeometryLimits::memory_words / 4 ? words : 4 * words;
  };
  geometry.local_words = times_four(geometry.local_words);
  geometry.broadcast_words = times_four(geometry.broadcast_words);
  geometry.instruction_words = 4 * geometry.instruction_words;
  return geometry;
}

}  // namespace gdr
