// The distribution of work over ranks and the transfers that it requires. All ranks derive it from
// the sizes of the whole job without communication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgdr/device/partition.hpp"
#include "libgdr/ranks/group.hpp"

namespace gdr {

/// A range of targets on one slice of the sources.
struct RankPart {
  std::size_t slice = 0;
  IndexRange targets;
};

/// Exclusive prefix sums of the counts, with the total at the end.
std::vector<std::size_t> offsets_of(std::span<const std::size_t> counts);

/// The parts of one rank in a block distribution of all pairs of slices and units of targets, in
/// the order of the slices. A rank needs about its share of the slices, or all sources if there is
/// one slice.
std::vector<RankPart> parts_of_rank(const JobPartition& cut, std::size_t targets, unsigned rank,
                                    unsigned ranks);

/// The smallest range that contains the targets of all parts.
IndexRange hull_of(std::span<const RankPart> parts);

constexpr IndexRange intersection(IndexRange a, IndexRange b) {
  const std::size_t first = a.first > b.first ? a.first : b.first;
  const std::size_t end_a = a.first + a.count, end_b = b.first + b.count;
  const std::size_t end = end_a < end_b ? end_a : end_b;
  return {first, end > first ? end - first : 0};
}

/// Appends a transfer of the records of `range`, with `words` words each and starting at `data`,
/// that are also in `part`.
void add_transfer(std::vector<RankTransfer>& list, unsigned peer, IndexRange range, IndexRange part,
                  std::size_t words, std::uint64_t* data);

}  // namespace gdr
