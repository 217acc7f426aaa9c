// How a whole job is cut: the partition, slices of the sources that are summed on their own,
// and the tree that joins their sums. It follows from the whole job's numbers of targets and
// sources and the geometry: whoever computes which part, the bits are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/port/port.hpp"
#include "libgdr/device/partition.hpp"
#include "libgdr/device/sources.hpp"

namespace gdr {

struct JobPartition {
  ChipPartition partition{};
  std::size_t slices = 1;  ///< of the sources; a power of two
  std::size_t unit = 1;    ///< targets that may be dealt out together
  friend bool operator==(const JobPartition&, const JobPartition&) = default;
};

/// Few targets on many sources are cut into slices, so that many ranks find work and each needs
/// only its part of the sources: so many that there are at most 256 pieces of work (a block's
/// targets on a slice), and that a slice gives every block 512 sources, beside which what a slice
/// costs is nothing. Kernels whose results are passed or which have outputs are never cut, nor are
/// jobs that ask for Partition::TargetsOverBlocks. Errors are those of choose_partition.
JobPartition partition_job(const KernelCost& kernel, const Geometry& geometry, Partition wanted,
                           std::size_t targets, std::size_t sources);

/// Slice k of n sources: whole groups but for the last, equal within one.
IndexRange slice_range(const JobPartition& cut, std::size_t group, std::size_t n, std::size_t k);
/// All slices.
std::vector<IndexRange> slice_ranges(const JobPartition& cut, std::size_t group, std::size_t n);

/// Joins the sums of slices as the network has them (read_raw), pair by pair in the order of the
/// slices, as it joins blocks and chips, and converts once.
class SliceReduction {
 public:
  explicit SliceReduction(const Program& program);

  /// Words of a target's record before conversion.
  std::size_t raw_words() const noexcept { return 2 * fields_.size(); }
  /// `raw` holds the records of `n` targets on slice 0, then those on slice 1, and so on; `records`
  /// becomes those of the link.
  void join(std::size_t slices, std::size_t n, const std::vector<std::uint64_t>& raw,
            std::vector<std::uint64_t>& records) const;

 private:
  std::vector<PortField> fields_;
  std::size_t result_words_ = 0;
};

}  // namespace gdr
