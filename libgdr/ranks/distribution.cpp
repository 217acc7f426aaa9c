#include "libgdr/ranks/distribution.hpp"

#include <algorithm>

namespace gdr {

std::vector<std::size_t> offsets_of(std::span<const std::size_t> counts) {
  std::vector<std::size_t> offsets = {0};
  for (const std::size_t n : counts) offsets.push_back(offsets.back() + n);
  return offsets;
}

std::vector<RankPart> parts_of_rank(const JobPartition& cut, std::size_t targets, unsigned rank,
                                    unsigned ranks) {
  const std::size_t units = (targets + cut.unit - 1) / cut.unit, all = units * cut.slices;
  // First unit of rank r: all * r / ranks without overflow.
  const auto begin = [&](std::size_t r) { return all / ranks * r + all % ranks * r / ranks; };
  const std::size_t first = begin(rank), end = begin(rank + 1);
  std::vector<RankPart> parts;
  for (std::size_t at = first; at < end;) {
    const std::size_t slice = at / units, stop = std::min(end, (slice + 1) * units);
    const std::size_t from = (at - slice * units) * cut.unit;
    const std::size_t to = std::min(targets, (stop - slice * units) * cut.unit);
    parts.push_back({slice, {from, to - from}});
    at = stop;
  }
  return parts;
}

IndexRange hull_of(std::span<const RankPart> parts) {
  if (parts.empty()) return {};
  std::size_t first = parts[0].targets.first, end = first;
  for (const RankPart& part : parts) {
    first = std::min(first, part.targets.first);
    end = std::max(end, part.targets.first + part.targets.count);
  }
  return {first, end - first};
}

void add_transfer(std::vector<RankTransfer>& list, unsigned peer, IndexRange range, IndexRange part,
                  std::size_t words, std::uint64_t* data) {
  const IndexRange both = intersection(range, part);
  if (both.count == 0 || words == 0) return;
  list.push_back({peer, data + (both.first - range.first) * words,
                  both.count * words * sizeof(std::uint64_t)});
}

}  // namespace gdr
