// The distribution of work over ranks and the transfers that it requires. All ranks derive it from
// the sizes of the whole job without communication.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgdr/device/partition.hpp"
#include "libgdr/ranks/collective.hpp"

namespace gdr {

/// A range of targets on one slice of the sources.
struct RankPart {
  std::size_t slice = 0;
  IndexRange targets;
};

/// Exclusive prefix sums of the counts, with the total at the end.
inline std::vector<std::size_t> offsets_of(std::span<const std::size_t> counts) {
  std::vector<std::size_t> offsets = {0};
  for (const std::size_t n : counts) offsets.push_back(offsets.back() + n);
  return offsets;
}

/// The parts of one rank in a block distribution of all pairs of slices and units of targets, in
/// the order of the slices. A rank needs about its share of the slices, or all sources if there is
/// one slice.
inline std::vector<RankPart> parts_of_rank(const JobPartition& partition, std::size_t targets,
                                           unsigned rank, unsigned ranks) {
  const std::size_t units = (targets + partition.unit - 1) / partition.unit;
  const std::size_t all = units * partition.slices;
  const std::size_t first = part_begin(all, rank, ranks), end = part_begin(all, rank + 1, ranks);
  std::vector<RankPart> parts;
  for (std::size_t at = first; at < end;) {
    const std::size_t slice = at / units, stop = std::min(end, (slice + 1) * units);
    const std::size_t from = (at - slice * units) * partition.unit;
    const std::size_t to = std::min(targets, (stop - slice * units) * partition.unit);
    parts.push_back({slice, {from, to - from}});
    at = stop;
  }
  return parts;
}

/// The smallest range that contains the targets of all parts.
inline IndexRange target_range(std::span<const RankPart> parts) {
  if (parts.empty()) return {};
  std::size_t first = parts[0].targets.first, end = first;
  for (const RankPart& part : parts) {
    first = std::min(first, part.targets.first);
    end = std::max(end, part.targets.first + part.targets.count);
  }
  return {first, end - first};
}

constexpr IndexRange intersection(IndexRange a, IndexRange b) {
  const std::size_t first = std::max(a.first, b.first);
  const std::size_t end = std::min(a.first + a.count, b.first + b.count);
  return {first, end > first ? end - first : 0};
}

/// Appends a transfer of the records of `range`, with `words` words each and starting at `data`,
/// that are also in `part`.
inline void add_transfer(std::vector<RankTransfer>& list, unsigned peer, IndexRange range,
                         IndexRange part, std::size_t words, std::uint64_t* data) {
  const IndexRange both = intersection(range, part);
  if (both.count == 0 || words == 0) return;
  list.push_back({peer, data + (both.first - range.first) * words,
                  both.count * words * sizeof(std::uint64_t)});
}

}  // namespace gdr
