// Items that every rank has some of, gathered on all ranks in rank order.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libgdr/ranks/collective.hpp"

namespace gdr {

/// Offsets of the items of each rank, with the number of all items at the end, if this rank has
/// `mine`. Collective.
std::vector<std::size_t> offsets_of_ranks(RankGroup& ranks, std::size_t mine);

/// All-gather of items of `bytes` each in place: rank r has those from offsets[r] to
/// offsets[r + 1] - 1 of `all`. Collective; throws on all ranks if one has no memory for the
/// transfer, some 100 MB at most. Returns the bytes that this rank received from others.
std::size_t gather_items(RankGroup& ranks, void* all, std::size_t bytes,
                         std::span<const std::size_t> offsets);

/// A value of each rank, in rank order; that of this process without a group. Collective.
template <typename Value>
std::vector<Value> values_of_ranks(RankGroup* ranks, const Value& mine) {
  std::vector<Value> all(ranks == nullptr ? 1 : ranks->size(), mine);
  if (ranks != nullptr) ranks->gather(&mine, sizeof mine, all.data());
  return all;
}

/// The sum of a number of each rank, which is that of this process without a group. Collective.
inline std::size_t sum_of_ranks(RankGroup* ranks, std::size_t mine) {
  std::size_t sum = 0;
  for (const std::size_t n : values_of_ranks(ranks, mine)) sum += n;
  return sum;
}

/// The items of all ranks in rank order, `each` numbers of an item; those of this process without a
/// group. Collective, also for errors.
std::vector<double> gathered_numbers(RankGroup* ranks, std::span<const double> mine,
                                     std::size_t each);

}  // namespace gdr
