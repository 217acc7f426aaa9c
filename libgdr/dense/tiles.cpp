#include "libgdr/dense/tiles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gdr::dense {
namespace {

template <typename Number>
double at(const MatrixView<const Number>& x, std::size_t row, std::size_t column) noexcept {
  return x.transpose == Transpose::No ? x.data[row + column * x.stride]
                                      : x.data[column + row * x.stride];
}

/// The leading 50 bits, as the multiplier sees them.
double leading(double x) noexcept {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{7});
}

bool has_low(const MatrixView<const float>&, std::size_t, std::size_t) noexcept { return false; }
bool has_low(const MatrixView<const double>& x, std::size_t rows, std::size_t columns) noexcept {
  if (x.transpose == Transpose::Yes) std::swap(rows, columns);
  for (std::size_t c = 0; c < columns; ++c) {
    std::uint64_t low = 0;
    for (std::size_t r = 0; r < rows; ++r)
      low |= std::bit_cast<std::uint64_t>(x.data[r + c * x.stride]);
    if ((low & 7) != 0) return true;
  }
  return false;
}

bool has_low(const Factor& x, std::size_t rows, std::size_t columns) noexcept {
  return std::visit([&](const auto& view) { return has_low(view, rows, columns); }, x);
}

template <typename Number>
void tile_of(const MatrixView<const Number>& a, std::size_t m, std::size_t row, const Inner& inner,
             std::size_t first, std::size_t blocks, std::uint64_t* words) {
  std::fill_n(words, blocks * pes * elements * 2 * block_depth, 0);
  const std::size_t end = std::min(first + blocks * block_depth, inner.size());
  const std::size_t rows = std::min(tile_rows, m - row);
  for (std::size_t i = first; i < end; ++i) {
    if (i % inner.pitch >= inner.k) continue;
    const Part part = inner.terms[i / inner.pitch].a;
    const std::size_t block = (i - first) / block_depth, depth = (i - first) % block_depth;
    for (std::size_t r = 0; r < rows; ++r) {
      // Row 8 p + 4 h + e is number `depth` of half h of target (p, e).
      const std::size_t target = (block * pes + r / 8) * elements + r % 4;
      words[(target * 2 + r / 4 % 2) * block_depth + depth] =
          std::bit_cast<std::uint64_t>(part_of(at(a, row + r, i % inner.pitch), part));
    }
  }
}

template <typename Number>
void columns_of(const MatrixView<const Number>& b, std::size_t column, std::size_t count,
                const Inner& inner, std::size_t first, std::size_t depth, unsigned threads,
                std::uint64_t* words) {
  const std::size_t end = std::min(first + depth, inner.size());
  const auto n = static_cast<std::ptrdiff_t>(count);
#pragma omp parallel for num_threads(static_cast <int>(threads)) if (count * depth > 100'000)
  for (std::ptrdiff_t c = 0; c < n; ++c) {
    std::uint64_t* to = words + static_cast<std::size_t>(c) * depth;
    std::fill_n(to, depth, 0);
    for (std::size_t i = first; i < end; ++i, ++to) {
      const std::size_t row = i % inner.pitch;
      if (row >= inner.k) continue;
      *to = std::bit_cast<std::uint64_t>(part_of(at(b, row, column + static_cast<std::size_t>(c)),
                                                 inner.terms[i / inner.pitch].b));
    }
  }
}

}  // namespace

double part_of(double x, Part part) noexcept {
  switch (part) {
    case Part::Whole:
      return x;
    case Part::Leading:
      return std::isfinite(x) ? leading(x) : x;
    case Part::Low:
      return std::isfinite(x) ? x - leading(x) : 0;
    case Part::Finite:
      return std::isfinite(x) ? x : 0;
  }
  return x;
}

std::vector<Term> terms_of(const Factor& a, const Factor& b, std::size_t m, std::size_t n,
                           std::size_t k, MatrixPrecision precision) {
  if (precision == MatrixPrecision::Chip) return {{Part::Whole, Part::Whole}};
  const bool low_a = has_low(a, m, k), low_b = has_low(b, k, n);
  std::vector<Term> terms{
      {low_a ? Part::Leading : Part::Whole, low_b ? Part::Leading : Part::Whole}};
  // The product of what is cut off of both is beyond the 61 bits of the sum.
  if (low_a) terms.push_back({Part::Low, Part::Finite});
  if (low_b) terms.push_back({Part::Finite, Part::Low});
  return terms;
}

void pack_tile(const Factor& a, std::size_t m, std::size_t row, const Inner& inner,
               std::size_t first, std::size_t blocks, std::uint64_t* words) {
  std::visit([&](const auto& view) { tile_of(view, m, row, inner, first, blocks, words); }, a);
}

void pack_columns(const Factor& b, std::size_t column, std::size_t count, const Inner& inner,
                  std::size_t first, std::size_t depth, unsigned threads, std::uint64_t* words) {
  std::visit(
      [&](const auto& view) {
        columns_of(view, column, count, inner, first, depth, threads, words);
      },
      b);
}

}  // namespace gdr::dense
