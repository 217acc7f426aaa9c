// A loaded program: validated for the geometry, with its variables as port fields and the layout of
// j-items in the broadcast memory; and the division of a run's j-items into groups, slices of
// blocks, and fills of the memory's halves.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "emulator/host/isa.hpp"
#include "emulator/port/port.hpp"

namespace gdr {

/// The two halves of the broadcast memory above its fixed part. Each has `groups` groups of
/// j-items, followed by as many groups of output items.
struct BmHalves {
  std::array<std::uint32_t, 2> source_base{}, output_base{};  ///< addresses of the halves, shorts
  std::uint32_t source_step = 0, output_step = 0;             ///< shorts of a group
  std::uint64_t groups = 0;  ///< groups per half; unlimited if groups have no words
};
constexpr std::uint64_t unlimited_groups = ~std::uint64_t{0};
/// Throws gdr::Error (Program) if a group or the fixed part does not fit.
BmHalves place_halves(const Program& program, const Geometry& geometry);

struct LoadedProgram {
  Program program;
  LinkLayout layout;
  std::vector<PortField> targets, sources, results, params, outputs;
  BmHalves halves;
  bool puts_to_halves = false;  ///< whether an instruction may write to the halves
  bool packs_results = false;   ///< whether some results are half a link word
  bool exact = true;            ///< numerics: the machine's, or those of host doubles
};

/// `isa`: the host instruction set that conversions at the port use; the bits are always the same.
/// `exact`: the numerics of the engine that runs it, which the reduction network follows.
/// Throws gdr::Error (Program) if the program does not fit the geometry.
LoadedProgram load_program(Program program, const Geometry& geometry, Isa isa, bool exact = true);

/// The record of a pad, an item that completes a group: that of the last source, with the declared
/// pads. So a value that does not depend on these is one of an existing source, in the domain of
/// every function.
void make_pad(const LoadedProgram& loaded, const std::uint64_t* last, std::uint64_t* pad) noexcept;

/// Consecutive groups of a run.
struct GroupRange {
  std::uint64_t first = 0, count = 0;
};

/// Fill f of a block is the groups f * n .. (f + 1) * n - 1 of its slice, with n = groups_per_half;
/// it is stored in half f mod 2.
struct LoopPlan {
  ChipPartition partition{};
  std::uint64_t items = 0;
  std::uint32_t group = 1;
  std::uint64_t groups = 0;  ///< the last one may be completed with pad items
  std::uint64_t groups_per_half = 1;
  std::uint32_t slices = 1;  ///< blocks with different groups; 1 if all blocks process all groups
  std::uint32_t parts = 1;   ///< parts of an item's record, one per block; 1 if all read the same

  /// Memory words of an item.
  std::uint64_t record_words(const LoadedProgram& loaded) const noexcept {
    return std::uint64_t{loaded.layout.source_words} * parts;
  }

  /// Contiguous slices; the first (groups mod slices) of them have one group more.
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
  /// Number of items in a range of groups, without pad items.
  std::uint64_t items_in(GroupRange range) const noexcept {
    return std::min(range.count * group, items - range.first * group);
  }
};

/// The plan of a run over `items` j-items, in groups of `group`, with `groups_per_half` in half a
/// broadcast memory.
LoopPlan make_plan(std::uint32_t group, std::uint64_t groups_per_half, const Geometry& geometry,
                   ChipPartition partition, std::uint64_t items) noexcept;
inline LoopPlan make_plan(const LoadedProgram& loaded, const Geometry& geometry,
                          ChipPartition partition, std::uint64_t items) noexcept {
  return make_plan(loaded.program.group, loaded.halves.groups, geometry, partition, items);
}

}  // namespace gdr
