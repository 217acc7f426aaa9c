// Partition over a board's PEs: different targets in every block (i-parallel), or the same targets
// in every block and the sources distributed over blocks and chips (j-parallel). Chosen by
// predicted time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/board/command.hpp"
#include "emulator/isa/geometry.hpp"
#include "gdr/device.hpp"

namespace gdr {

/// Parameters of a kernel's cost, besides the numbers of targets and sources.
struct KernelCost {
  std::uint64_t start_clocks = 0, body_clocks = 0, end_clocks = 0;
  std::uint32_t elements = 4, group = 1;
  std::uint32_t target_words = 0, source_words = 0, result_words = 0;  ///< on the link
  bool reducible = true;  ///< whether every result has a reduction of partial results
  /// Whether results depend on the position of targets: the program reads the number of its PE or
  /// block, PEs of a block share data written by one of them, or it has outputs.
  bool position_dependent = false;
};

KernelCost kernel_cost(const Program& program);

/// Targets that a board holds at once.
std::size_t board_slots(const KernelCost& kernel, const Geometry& geometry,
                        ChipPartition partition) noexcept;

/// Targets per chip when n are distributed over a board's chips: equal parts, rounded up to whole
/// blocks, since a partly filled block costs as much as a full one.
std::size_t targets_of_chip(const KernelCost& kernel, const Geometry& geometry,
                            std::size_t n) noexcept;

/// Largest write to the memories, words, which limits the host memory of a list.
inline constexpr std::size_t write_words = std::size_t{1} << 21;

/// Sources that fit the memories of a board at once; may be 0. `output_words`: words of an output
/// item in a chip's memory.
std::size_t sources_at_once(const KernelCost& kernel, const Geometry& geometry,
                            ChipPartition partition, std::size_t output_words);

/// Predicted chip clocks of one board for the whole job (all batches of targets).
double predicted_clocks(const KernelCost& kernel, const Geometry& geometry, ChipPartition partition,
                        std::size_t targets, std::size_t sources) noexcept;

/// The partition to use. Auto selects the one with fewer predicted clocks on ONE board: the choice,
/// and so every bit of the results, does not depend on the number of boards or threads. Throws
/// Error (Usage) for a requested j-parallel partition of a kernel with a result that cannot be
/// reduced.
ChipPartition choose_partition(const KernelCost& kernel, const Geometry& geometry, Partition wanted,
                               std::size_t targets, std::size_t sources);

}  // namespace gdr
