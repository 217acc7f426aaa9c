// A grid of ranks, and the block-cyclic distribution over one of its dimensions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "gdr/distributed.hpp"
#include "libgdr/ranks/ranks.hpp"

namespace gdr {

/// Block-cyclic distribution of indices over `parts`, seen by one of them.
struct CyclicDistribution {
  std::size_t block = 1, parts = 1, part = 0;

  std::size_t owner(std::size_t global) const { return global / block % parts; }
  std::size_t local(std::size_t global) const {
    return global / block / parts * block + global % block;
  }
  std::size_t global(std::size_t index) const { return global_of(index, part); }
  std::size_t global_of(std::size_t index, std::size_t of) const {
    return (index / block * parts + of) * block + index % block;
  }
  /// Number of indices below n of a part.
  std::size_t count_of(std::size_t n, std::size_t of) const {
    const std::size_t whole = n / block, rest = n % block;
    const std::size_t blocks = whole / parts + (of < whole % parts ? 1 : 0);
    return blocks * block + (whole % parts == of ? rest : 0);
  }
  std::size_t count(std::size_t n) const { return count_of(n, part); }

  // A buffer of vectors of `length` elements, one for each index first .. end - 1, ordered by part.
  /// Offsets of the parts, and the end.
  std::vector<std::size_t> offsets(std::size_t first, std::size_t end, std::size_t length) const {
    std::vector<std::size_t> list{0};
    for (std::size_t p = 0; p < parts; ++p)
      list.push_back(list.back() + (count_of(end, p) - count_of(first, p)) * length);
    return list;
  }
  /// Calls visit(index) in the order of the buffer.
  template <typename Visit>
  void in_buffer_order(std::size_t first, std::size_t end, const Visit& visit) const {
    for (std::size_t p = 0; p < parts; ++p)
      for (std::size_t l = count_of(first, p); l < count_of(end, p); ++l) visit(global_of(l, p));
  }
};

/// Doubles as words of a message.
inline std::uint64_t* message_words(double* numbers) {
  return reinterpret_cast<std::uint64_t*>(numbers);
}

/// Rows of the most square grid of so many ranks with at least as many columns.
constexpr std::size_t max_square_rows(std::size_t ranks) noexcept {
  std::size_t rows = 1;
  for (std::size_t r = 1; r * r <= ranks; ++r)
    if (ranks % r == 0) rows = r;
  return rows;
}

/// The grid with this rank's distributions and product.
struct Grid {
  Grid(Device& opened, const GridOptions& chosen);

  Device& device;
  GridOptions options;
  std::unique_ptr<RankGroup> own;  ///< the single rank of a device without ranks
  RankGroup& ranks;
  std::unique_ptr<RankGroup> row, column;  ///< ranks of this rank's row and column of the grid
  CyclicDistribution rows, columns;
  MatrixProduct product;
  GridTimes times = {};
};

struct DistributedMatrices::Impl : Grid {
  using Grid::Grid;
};

}  // namespace gdr
