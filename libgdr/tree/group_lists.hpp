// Lists of sources of many groups of targets, some thousand at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libgdr/tree/walk.hpp"

namespace gdr::tree {

class GroupLists {
 public:
  explicit GroupLists(unsigned threads) : threads_(threads) {}

  /// Makes the lists of the first of these groups, in threads, and returns their number. It depends
  /// on the lengths of lists: they take some 100 MB at most, unless single ones are longer.
  std::size_t make(std::span<const Group> groups, const Hierarchy& hierarchy);
  /// The list of the k-th of these groups.
  std::span<const std::int32_t> list(std::size_t k) const { return lists_[k]; }

  double pairs = 0;  ///< number of pairs of all lists so far

 private:
  unsigned threads_;
  std::size_t longest_ = 0;  ///< length of the longest list so far; 0: unknown
  std::vector<std::vector<std::int32_t>> lists_;
};

}  // namespace gdr::tree
