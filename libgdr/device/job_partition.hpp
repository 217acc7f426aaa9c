// Partition of a whole job: over the blocks, into slices of sources with partial sums, and the tree
// that reduces these. It depends only on the numbers of targets and sources of the whole job and
// the geometry, so the bits of the results do not depend on who computes which part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/port/port.hpp"
#include "libgdr/device/partition.hpp"
#include "libgdr/device/sources.hpp"

namespace gdr {

/// Partition of a job.
struct JobPartition {
  ChipPartition partition{};
  std::size_t slices = 1;  ///< number of slices of the sources, a power of two
  std::size_t unit = 1;    ///< granularity of the distribution of targets
  friend bool operator==(const JobPartition&, const JobPartition&) = default;
};

/// Jobs with few targets and many sources are divided into slices, so that many ranks have work and
/// each needs only a part of the sources: at most 256 work units (a block's targets on a slice),
/// and at least 512 sources per block and slice, to amortise the overhead. Kernels with results of
/// reduction "pass" or with outputs are not divided, nor are jobs with
/// Partition::TargetsOverBlocks. Errors are those of choose_partition.
JobPartition partition_job(const KernelCost& kernel, const Geometry& geometry, Partition wanted,
                           std::size_t targets, std::size_t sources);

/// Slice k of n sources: whole groups except the last, of equal length within one group.
IndexRange slice_range(const JobPartition& cut, std::size_t group, std::size_t n, std::size_t k);
/// All slices of n sources.
std::vector<IndexRange> slice_ranges(const JobPartition& cut, std::size_t group, std::size_t n);

/// Reduces the partial sums of slices in network format (read_raw), pairwise in the order of the
/// slices like blocks and chips, and converts once.
class SliceReduction {
 public:
  explicit SliceReduction(const Program& program);

  /// Words of a target's record before conversion.
  std::size_t raw_words() const noexcept { return 2 * fields_.size(); }
  /// `raw` holds the records of `n` targets for slice 0, then for slice 1, and so on; `records`
  /// gets the link records.
  void join(std::size_t slices, std::size_t n, const std::vector<std::uint64_t>& raw,
            std::vector<std::uint64_t>& records) const;

 private:
  std::vector<PortField> fields_;
  std::size_t result_words_ = 0;
};

}  // namespace gdr
