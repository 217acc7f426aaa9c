// Which way to use a board's PEs: different targets in every block, or the same targets in every
// block with the sources split over blocks and chips. Predicted from the work's size alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/board/command.hpp"
#include "emulator/isa/geometry.hpp"
#include "gdr/device.hpp"

namespace gdr {

/// What the cost of a kernel depends on, besides the numbers of targets and sources.
struct KernelCost {
  std::uint64_t start_clocks = 0, body_clocks = 0, end_clocks = 0;
  std::uint32_t elements = 4, group = 1;
  std::uint32_t target_words = 0, source_words = 0, result_words = 0;  ///< on the link
  bool reducible = true;  ///< every result has a reduction that adds up partial results
  /// What is computed depends on where targets stand: the program knows the number of its PE or
  /// block, PEs of a block see what one of them wrote, or outputs join what all PEs hold.
  bool position_dependent = false;
};

KernelCost kernel_cost(const Program& program);

/// Targets that a board holds at once.
std::size_t board_slots(const KernelCost& kernel, const Geometry& geometry,
                        ChipPartition partition) noexcept;

/// Targets of every chip but the last ones, when n are dealt out to a board's chips: equal parts,
/// in whole blocks, as a block that holds one target costs what a full one does.
std::size_t targets_of_chip(const KernelCost& kernel, const Geometry& geometry,
                            std::size_t n) noexcept;

/// Words that one write to the memories carries at most, which bounds the host memory of a list.
inline constexpr std::size_t write_words = std::size_t{1} << 21;

/// Sources that the memories of a board take at once; 0 if they take none. `output_words` are those
/// that an item leaves in a chip's memory.
std::size_t sources_at_once(const KernelCost& kernel, const Geometry& geometry,
                            ChipPartition partition, std::size_t output_words);

/// Chip clocks of one board for the whole job (all batches of targets), either way.
double predicted_clocks(const KernelCost& kernel, const Geometry& geometry, ChipPartition partition,
                        std::size_t targets, std::size_t sources) noexcept;

/// The way to go. Auto takes the one with fewer predicted clocks on ONE board; as neither the
/// number of boards nor of threads enters, the choice (and so every bit of the results) is the same
/// for all of them. Throws Error (Usage) if sources shall be split and a result cannot be joined.
ChipPartition choose_partition(const KernelCost& kernel, const Geometry& geometry, Partition wanted,
                               std::size_t targets, std::size_t sources);

}  // namespace gdr
