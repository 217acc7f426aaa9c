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

/// Rows of a tile and its part of the inner dimension in one block: what kernels/dense/dgemm.gds
/// has.
constexpr std::size_t tile_rows = 256, block_depth = 32;
constexpr std::size_t pes = 32, elements = 4;

/// op(A) or op(B): what a call was given, of either number. Floats become the doubles that the link
/// carries while they are packed; all bits of theirs are within what the multiplier sees.
using Factor = std::variant<MatrixView<const double>, MatrixView<const float>>;

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
struct Inner {
  std::size_t k = 0;
  std::vector<Term> terms;
  std::size_t pitch = k;  ///< from one term to the next
  std::size_t size() const noexcept { return pitch * (terms.size() - 1) + k; }
};

/// Rows `row` .. `row + rows - 1` of op(A), at most tile_rows, and inner indices from `first` on,
/// for a chip of `blocks` blocks of `pes` PEs.
struct TilePlace {
  std::size_t row = 0, rows = 0, first = 0, blocks = 0, pes = 0;
};
/// Link words of this tile: records of all targets.
void pack_tile(const Factor& a, const TilePlace& place, const Inner& inner, unsigned threads,
               std::uint64_t* words);
/// Words of columns `column` .. `column + count - 1` of op(B), one item each, for the same inner
/// indices.
void pack_columns(const Factor& b, std::size_t column, std::size_t count, const Inner& inner,
                  std::size_t first, std::size_t depth, unsigned threads, std::uint64_t* words);

}  // namespace gdr::dense
