// The target of code generation.
#pragma once

#include <cstdint>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/native/translate/graph.hpp"

namespace gdr::native {

enum class Precision : std::uint8_t { Double, Float };
/// What code on floats is for.
enum class FloatMode : std::uint8_t {
  Plain,
  Mixed,  ///< distances come from longs that are pairs of floats (split_longs.hpp)
  Fast,   ///< reciprocals and roots are the host's estimates alone, if these have 14 bits
};

/// Target of code generation.
struct Target {
  Isa isa = Isa::Portable;
  Precision precision = Precision::Double;
  FloatMode mode = FloatMode::Plain;  ///< mode among floats
  bool gpu = false;  ///< whether threads of a GPU execute it; `isa` is then Portable
  /// Among doubles: reciprocals and roots of infinite numbers are those of IEEE 754. Else they may
  /// be NaN or infinite, from which results tell that this is needed.
  bool infinities = false;
  /// Square roots of doubles are by the host's instruction; with AVX2 their reciprocals, too.
  bool square_roots = false;
  /// Every lane has sources of its own: a source word is a vector (SourceVectors). Else it is one
  /// lane, for all.
  bool source_vectors = false;
  /// A program of which longs need no more bits than doubles: x + c - c does not round as the
  /// chip's longs do.
  bool longs_are_doubles = false;
  friend bool operator==(const Target&, const Target&) = default;
  /// Lanes of a vector.
  constexpr std::uint32_t lanes() const noexcept {
    if (isa == Isa::Portable) return 32;
    const std::uint32_t doubles = isa == Isa::Neon ? 2 : isa == Isa::Avx2 ? 4 : 8;
    return precision == Precision::Float ? doubles * 2 : doubles;
  }
  constexpr std::uint32_t lane_bytes() const noexcept {
    return precision == Precision::Float ? 4 : 8;
  }
  /// Bytes of a source word.
  constexpr std::uint32_t source_bytes() const noexcept {
    return source_vectors ? lanes() * lane_bytes() : lane_bytes();
  }
};

/// Bits of a constant in a lane.
std::uint64_t constant_lane(const Node& constant, Precision precision) noexcept;

}  // namespace gdr::native
