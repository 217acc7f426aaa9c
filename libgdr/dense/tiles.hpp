// Division of matrices for a board: tiles of A for the local memories, columns of B to be streamed.
// In full precision the inner dimension is that of the product repeated for each term.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "gdr/matrix.hpp"

namespace gdr::dense {

/// Rows of a tile, and link words per row for the inner indices of one block, the same for both
/// kernels.
constexpr std::size_t tile_rows = 256, block_words = 32;
constexpr std::size_t pes = 32, elements = 4;

/// Element format on the link and in the PEs: doubles as longs (kernels/dense/dgemm.gds), or floats
/// as shorts, two per word, with half the multiplier passes (kernels/dense/sgemm.gds).
enum class ElementFormat : std::uint8_t { Doubles, Floats };

/// InnerDimension indices of a block.
constexpr std::size_t block_depth(ElementFormat format) noexcept {
  return format == ElementFormat::Floats ? 2 * block_words : block_words;
}

/// op(A) or op(B) as passed by the caller. In the format Doubles, floats are converted when they
/// are packed; the multiplier uses all of their bits.
using Factor = std::variant<MatrixView<const double>, MatrixView<const float>>;

/// Whether one of the floats is subnormal: a chip's port would flush it to zero as a float, but not
/// as a double.
bool has_subnormal(const Factor& x, std::size_t rows, std::size_t columns) noexcept;

/// Part of a factor's elements in a term of a product.
enum class Part : std::uint8_t {
  Whole,  ///< the element
  /// The leading 50 bits, used together with Low on engines that multiply more bits. Infinities and
  /// NaN are unchanged.
  Leading,
  Low,     ///< the residual that the chip's multiplier truncates: all but the leading 50 bits
  Finite,  ///< the element, or zero for infinities and NaN; multiplied with Low
};
double part_of(double x, Part part) noexcept;

/// A term of the product: parts of op(A) and op(B).
struct Term {
  Part a, b;
};
/// The terms of a product in a precision.
std::vector<Term> terms_of(const Factor& a, const Factor& b, std::size_t m, std::size_t n,
                           std::size_t k, MatrixPrecision precision);

/// The inner dimension of all terms: index i is i % pitch of term i / pitch; elements from k on are
/// zero.
struct InnerDimension {
  std::size_t k = 0;
  std::vector<Term> terms;
  std::size_t pitch = k;  ///< distance of consecutive terms
  std::size_t size() const noexcept { return pitch * (terms.size() - 1) + k; }
};

/// Rows `row` .. `row + rows - 1` of op(A), at most tile_rows, and inner indices from `first` on,
/// for a chip of `blocks` blocks of `pes` PEs.
struct TileLocation {
  std::size_t row = 0, rows = 0, first = 0, blocks = 0, pes = 0;
};
/// Packs a tile into link words: records of all targets. Format Floats requires floats with
/// Part::Whole.
void pack_tile(const Factor& a, const TileLocation& place, const InnerDimension& inner,
               ElementFormat format, unsigned threads, std::uint64_t* words);
/// Packs columns `column` .. `column + count - 1` of op(B), one item of `item_words` each, for
/// the inner indices from `first` on.
void pack_columns(const Factor& b, std::size_t column, std::size_t count,
                  const InnerDimension& inner, std::size_t first, std::size_t item_words,
                  ElementFormat format, unsigned threads, std::uint64_t* words);

}  // namespace gdr::dense
