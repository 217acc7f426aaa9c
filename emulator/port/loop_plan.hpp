// Division of a run's j-items into groups, slices of blocks, and fills of the memory's halves.
#pragma once

#include <algorithm>
#include <cstdint>

#include "emulator/port/loaded_program.hpp"
#include "emulator/port/partition.hpp"

namespace gdr {

/// Groups first..first + count - 1 of a run.
struct GroupRange {
  std::uint64_t first = 0, count = 0;
};

/// Fill f of a block is the groups f * n .. (f + 1) * n - 1 of its slice, n being what a half
/// holds; it stands in half f mod 2.
struct LoopPlan {
  ChipPartition partition{};
  std::uint64_t items = 0;
  std::uint32_t group = 1;
  std::uint64_t groups = 0;  ///< the last one may be filled up with pad items
  std::uint64_t groups_per_half = 1;
  std::uint32_t slices = 1;  ///< blocks that share the groups; 1 where all see the same
  std::uint32_t parts = 1;   ///< parts of an item's record, one per block; 1 if all read the same

  /// Words of memory that an item takes.
  std::uint64_t record_words(const LoadedProgram& loaded) const noexcept {
    return std::uint64_t{loaded.layout.source_words} * parts;
  }

  /// Contiguous slices; the first groups mod slices of them hold one group more.
  GroupRange slice(std::uint32_t block) const noexcept {
    if (slices == 1) return {0, groups};
    const std::uint64_t size = groups / slices;
    const std::uint64_t longer = groups % slices;
    return {block * size + std::min<std::uint64_t>(block, longer), size + (block < longer ? 1 : 0)};
  }
  std::uint64_t fills(std::uint64_t slice_groups) const noexcept {
    return slice_groups / groups_per_half + (slice_groups % groups_per_half != 0 ? 1 : 0);
  }
  GroupRange fill(GroupRange slice, std::uint64_t f) const noexcept {
    const std::uint64_t done = f * groups_per_half;
    return {slice.first + done, std::min(groups_per_half, slice.count - done)};
  }
  /// Items of the list in a range of groups: those beyond its end are pads.
  std::uint64_t items_in(GroupRange range) const noexcept {
    return std::min(range.count * group, items - range.first * group);
  }
};

/// A run over `items` of a program whose body takes groups of `group` and of whose groups half of
/// the memory holds `groups_per_half`.
LoopPlan make_plan(std::uint32_t group, std::uint64_t groups_per_half, const Geometry& geometry,
                   ChipPartition partition, std::uint64_t items) noexcept;
LoopPlan make_plan(const LoadedProgram& loaded, const Geometry& geometry, ChipPartition partition,
                   std::uint64_t items) noexcept;

}  // namespace gdr
