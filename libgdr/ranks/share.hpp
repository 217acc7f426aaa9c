// Which rank computes what, and which bytes have to move for it. All ranks derive the same from the
// whole job, so nothing of it is sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgdr/device/job_partition.hpp"
#include "libgdr/ranks/group.hpp"

namespace gdr {

/// Some targets on one slice.
struct RankPart {
  std::size_t slice = 0;
  IndexRange targets;
};

/// Numbers before each rank's, and all of them at the end.
std::vector<std::size_t> offsets_of(std::span<const std::size_t> counts);

/// The work is the list of all units of targets on slice 0, then of those on slice 1, and so on; it
/// is dealt out in equal stretches. So a rank needs about its part of the slices, or all sources
/// where there is one slice.
std::vector<RankPart> parts_of_rank(const JobPartition& cut, std::size_t targets, unsigned rank,
                                    unsigned ranks);

/// The targets of any of the parts, from the first to the last.
IndexRange hull_of(std::span<const RankPart> parts);

constexpr IndexRange intersection(IndexRange a, IndexRange b) {
  const std::size_t first = a.first > b.first ? a.first : b.first;
  const std::size_t end_a = a.first + a.count, end_b = b.first + b.count;
  const std::size_t end = end_a < end_b ? end_a : end_b;
  return {first, end > first ? end - first : 0};
}

/// Add to a list of transfers what of the records of `range`, of `words` words each and beginning
/// at `data`, is in `part`.
void add_transfer(std::vector<RankTransfer>& list, unsigned peer, IndexRange range, IndexRange part,
                  std::size_t words, std::uint64_t* data);

}  // namespace gdr
