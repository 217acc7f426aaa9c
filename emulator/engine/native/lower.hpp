// Lowering of program operations to host vector operations.
#pragma once

#include "emulator/engine/engine.hpp"
#include "emulator/engine/native/segment.hpp"

namespace gdr::native {

enum class Precision : std::uint8_t { Double, Float };

/// Target of code generation.
struct Target {
  Isa isa = Isa::Portable;
  Precision precision = Precision::Double;
  friend bool operator==(const Target&, const Target&) = default;
  /// Lanes of a vector.
  constexpr std::uint32_t lanes() const noexcept {
    if (isa == Isa::Portable) return 32;
    const std::uint32_t doubles = isa == Isa::Avx2 ? 4 : 8;
    return precision == Precision::Float ? doubles * 2 : doubles;
  }
  constexpr std::uint32_t lane_bytes() const noexcept {
    return precision == Precision::Float ? 4 : 8;
  }
};

/// Bits of a constant in a lane.
std::uint64_t constant_lane(const Node& constant, Precision precision) noexcept;

/// Products that only sums use become fused multiply-adds; reciprocals and reciprocal square roots
/// become the host's estimate and as many steps as their accuracy asks for. Throws Unsupported
/// where floats lack the range of doubles.
Segment lowered(const Segment& segment, Target target);

}  // namespace gdr::native
