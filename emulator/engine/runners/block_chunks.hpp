// How a run is divided: blocks, and consecutive fills of their memories.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "emulator/port/loaded_program.hpp"

namespace gdr {

/// A block of a chip.
struct BlockPlace {
  std::uint32_t chip = 0, block = 0;
};

/// The work of one block.
struct BlockTask : BlockPlace {
  bool runs = false;       ///< whether the block takes part in the run
  std::size_t number = 0;  ///< number among the tasks of the run
};

/// Consecutive fills of a run.
struct FillChunk {
  std::uint64_t first_fill = 0, fills = 0;
  bool first = true, last = true;

  /// The groups of these fills among those of a slice.
  GroupRange groups_of(const LoopPlan& plan, GroupRange slice) const noexcept {
    const std::uint64_t before = std::min(slice.count, first_fill * plan.groups_per_half);
    const std::uint64_t left = slice.count - before;
    const std::uint64_t limit =
        plan.groups_per_half == unlimited_groups ? left : fills * plan.groups_per_half;
    return {slice.first + before, std::min(left, limit)};
  }
  /// The end of these fills in a slice.
  std::uint64_t end_in(const LoopPlan& plan, GroupRange slice) const noexcept {
    return std::min(plan.fills(slice.count), first_fill + fills);
  }
};

/// Fills of the memory's halves that remain visible afterwards: the last one may be short, and then
/// the rest of its half still holds an earlier fill.
constexpr std::uint64_t visible_fills = 3;

}  // namespace gdr
