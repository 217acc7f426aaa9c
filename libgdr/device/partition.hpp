// Partition of a job. Over a board's PEs: different targets in every block (i-parallel), or the
// same targets in every block and the sources distributed over blocks and chips (j-parallel),
// chosen by predicted time. Over boards and ranks: batches of targets, and slices of sources with
// partial sums. It depends only on the numbers of targets and sources of the whole job and the
// geometry, so the bits of the results do not depend on who computes which part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/board/command.hpp"
#include "emulator/isa/geometry.hpp"
#include "gdr/device.hpp"
#include "libgdr/device/sources.hpp"

namespace gdr {

/// Parameters of a kernel's cost, besides the numbers of targets and sources.
struct KernelCost {
  std::uint64_t start_clocks = 0, body_clocks = 0, end_clocks = 0;
  std::uint32_t elements = 4, group = 1;
  std::uint32_t target_words = 0, source_words = 0,
                result_words = 0;    ///< words of a record on the link
  std::uint32_t unjoined_words = 0;  ///< words of a result that every block returns
  bool reducible = true;             ///< whether every result has a reduction of partial results
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

/// Number of sources that fit the chips' memories at once, with `words` words per item.
std::size_t source_capacity(ChipPartition partition, unsigned chips, std::uint64_t memory_words,
                            std::size_t words);

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

/// Partition of a job.
struct JobPartition {
  ChipPartition partition{};
  std::size_t slices = 1;  ///< number of slices of the sources, a power of two
  std::size_t unit = 1;    ///< granularity of the distribution of targets
  friend bool operator==(const JobPartition&, const JobPartition&) = default;
};

/// Whether partial sums over slices of the sources can be joined: every result has a reduction, and
/// none depends on the position of targets.
constexpr bool may_slice(const KernelCost& kernel) noexcept {
  return kernel.reducible && !kernel.position_dependent;
}

/// Jobs with few targets and many sources are divided into slices, so that many ranks have work and
/// each needs only a part of the sources: at most 256 work units (a block's targets on a slice),
/// and at least 512 sources per block and slice, to amortise the overhead. Kernels with results of
/// reduction "pass" or with outputs are not divided, nor are jobs with
/// Partition::TargetsOverBlocks. Errors are those of choose_partition.
JobPartition partition_job(const KernelCost& kernel, const Geometry& geometry, Partition wanted,
                           std::size_t targets, std::size_t sources);

/// Slice k of n sources: whole groups except the last, of equal length within one group.
IndexRange slice_range(const JobPartition& cut, std::size_t group, std::size_t n, std::size_t k);
/// All slices of n sources, into `slices`.
void slice_ranges(const JobPartition& cut, std::size_t group, std::size_t n,
                  std::vector<IndexRange>& slices);

}  // namespace gdr
