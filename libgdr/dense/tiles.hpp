// Matrices cut into what a board takes: tiles of A for the local memories, columns of B for the
// stream. The inner dimension may be that of the product several times over, once for each of its
// terms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "gdr/matrix.hpp"

namespace gdr::dense {

/// Rows of a tile, and what its part of the inner dimension in one block takes of the link: both
/// kernels fill the same memory.
constexpr std::size_t tile_rows = 256, block_words = 32;
constexpr std::size_t pes = 32, elements = 4;

/// How numbers travel and stand in the PEs: doubles as longs (kernels/dense/dgemm.gds), or floats
/// as shorts, two to a word, with half the passes of the multiplier (kernels/dense/sgemm.gds).
enum class ElementFormat : std::uint8_t { Doubles, Floats };

/// InnerDimension indices of a block.
constexpr std::size_t block_depth(ElementFormat format) noexcept {
  return format == ElementFormat::Floats ? 2 * block_words : block_words;
}

/// op(A) or op(B): what a call was given, of either number. Where they are held as doubles floats
/// become such while they are packed; all bits of theirs are within what the multiplier sees.
using Factor = std::variant<MatrixView<const double>, MatrixView<const float>>;

/// Whether one of the floats is subnormal: converted as such, at a chip's port, it would be zero.
/// As a double it is a number like others.
bool has_subnormal(const Factor& x, std::size_t rows, std::size_t columns) noexcept;

/// What a term of a product takes of a factor.
enum class Part : std::uint8_t {
  Whole,  ///< the number
  /// What the chip's multiplier sees of it, for engines that see more: beside a Low, which counts
  /// once. Infinities and NaN are themselves.
  Leading,
  Low,     ///< what the chip's multiplier cuts off: the number without its leading 50 bits
  Finite,  ///< the number, zero if it is infinite or none: beside a Low
};
double part_of(double x, Part part) noexcept;

/// A term: op(A) and op(B) in these parts.
struct Term {
  Part a, b;
};
/// Terms that the product needs in a precision.
std::vector<Term> terms_of(const Factor& a, const Factor& b, std::size_t m, std::size_t n,
                           std::size_t k, MatrixPrecision precision);

/// The stretched inner dimension: index i is i % pitch of term i / pitch; from k on all is zero.
struct InnerDimension {
  std::size_t k = 0;
  std::vector<Term> terms;
  std::size_t pitch = k;  ///< from one term to the next
  std::size_t size() const noexcept { return pitch * (terms.size() - 1) + k; }
};

/// Rows `row` .. `row + rows - 1` of op(A), at most tile_rows, and inner indices from `first` on,
/// for a chip of `blocks` blocks of `pes` PEs.
struct TileLocation {
  std::size_t row = 0, rows = 0, first = 0, blocks = 0, pes = 0;
};
/// Link words of this tile: records of all targets. Only floats, whole, can be held as floats.
void pack_tile(const Factor& a, const TileLocation& place, const InnerDimension& inner,
               ElementFormat format, unsigned threads, std::uint64_t* words);
/// Words of columns `column` .. `column + count - 1` of op(B), one item of `item_words` each, for
/// the inner indices from `first` on.
void pack_columns(const Factor& b, std::size_t column, std::size_t count,
                  const InnerDimension& inner, std::size_t first, std::size_t item_words,
                  ElementFormat format, unsigned threads, std::uint64_t* words);

}  // namespace gdr::dense
