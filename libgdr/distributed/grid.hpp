// A grid of ranks, and rows or columns dealt out over one side of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "gdr/distributed.hpp"
#include "libgdr/ranks/device_ranks.hpp"

namespace gdr {

/// Indices dealt out in blocks to `parts`, cyclically; this is one of them.
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
  /// How many of the indices below n some part has.
  std::size_t count_of(std::size_t n, std::size_t of) const {
    const std::size_t whole = n / block, rest = n % block;
    const std::size_t blocks = whole / parts + (of < whole % parts ? 1 : 0);
    return blocks * block + (whole % parts == of ? rest : 0);
  }
  std::size_t count(std::size_t n) const { return count_of(n, part); }
};

/// What the algorithms work on.
struct Grid {
  Grid(Device& opened, const GridOptions& chosen);

  Device& device;
  GridOptions options;
  std::unique_ptr<RankGroup> own;  ///< where the device has no ranks
  RankGroup& ranks;
  std::unique_ptr<RankGroup> row, column;  ///< the ranks in this one's row and column of the grid
  CyclicDistribution rows, columns;
  MatrixProduct product;
  GridTimes times = {};
};

struct DistributedMatrices::Impl : Grid {
  using Grid::Grid;
};

}  // namespace gdr
