// The division of groups of targets among ranks: each rank computes consecutive groups.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libgdr/ranks/collective.hpp"

namespace gdr {

/// The first of consecutive items for each of `parts` parts, and the number of items at the end, so
/// that all parts have about the same weight.
std::vector<std::size_t> divide_by_weight(std::span<const double> weights, std::size_t parts);

/// Groups are structures with `first` and `count`, consecutive ones of the rows of their targets.
class GroupParts {
 public:
  /// One weight for each group.
  GroupParts(const RankGroup& ranks, std::span<const double> weights)
      : rank_(ranks.rank()), first_(divide_by_weight(weights, ranks.size())) {}

  /// The groups of this rank.
  template <typename Group>
  std::span<const Group> own(std::span<const Group> groups) const {
    return groups.subspan(first_[rank_], first_[rank_ + 1] - first_[rank_]);
  }
  /// The first row of each rank, and the number of rows, `rows`, at the end.
  template <typename Group>
  std::vector<std::size_t> rows(std::span<const Group> groups, std::size_t rows) const {
    std::vector<std::size_t> offsets;
    for (const std::size_t g : first_)
      offsets.push_back(g < groups.size() ? std::size_t{groups[g].first} : rows);
    offsets.front() = 0;
    return offsets;
  }

 private:
  std::size_t rank_;
  std::vector<std::size_t> first_;
};

}  // namespace gdr
