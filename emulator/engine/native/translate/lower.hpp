// Lowering of program operations to host vector operations, as a sequence of rewriting passes.
#pragma once

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/native/translate/segment.hpp"

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
  FloatMode mode = FloatMode::Plain;  ///< among floats
  bool gpu = false;                   ///< a GPU's threads; `isa` is then Portable
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
    const std::uint32_t doubles = isa == Isa::Avx2 ? 4 : 8;
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

/// Recognises idioms, rounds shorts, simplifies, fuses products and sums, and replaces reciprocals
/// and reciprocal square roots by the host's estimate and as many steps as their accuracy requires.
/// Throws Unsupported where floats lack the range of doubles.
/// `known`: inputs of the segment, among floats.
Segment lowered(const Segment& segment, Target target, const KnownInputs& known = {});
/// Whether square roots by the instruction take less time than steps, in code with them: a vector
/// of doubles takes 9 clocks on Zen 5, with AVX2 8 and the quotient 5, in which other operations
/// must have enough to do. Measured there: 1.09 of the rate with 33 others for a root, 0.74 with 7;
/// reciprocal roots with AVX2: 1.08 with 17 others, 1.3 with 37.
bool square_roots_pay(const Segment& with_instructions, Isa isa);

/// Replaces every value that is an idiom, c/x or c/sqrt(x), of a number whose bits are used: by
/// Rsqrt and Recip nodes that are at least as accurate as the program's own sequence (or as the
/// short that it is rounded to). If the program's value at x = 0 is finite and may be live, it is
/// kept: programs multiply it by zero, or clamp it. With floats it is scaled to the end of their
/// range.
Segment replace_rsqrt_idioms(const Segment& segment, Precision precision);

/// Adding and subtracting a large constant rounds. If one pass adds and the next subtracts, the sum
/// between them is rounded here, as within a pass.
Kernel round_loop_sums(const Kernel& kernel);

/// Removes arithmetic that only the chip needs: subtractions of zero, by which a program sets a
/// mask. Moves constant factors to where they cost least: c (x w) and c (y w) are x (c w) and y (c
/// w), and c (x (k y)) is x ((c k) y). Values within 20 powers of two of the ends of the range may
/// become zero or infinite. Runs before products and sums are fused.
Segment simplified(const Segment& segment);

}  // namespace gdr::native
