#include "libgdr/tree/group_lists.hpp"

#include <algorithm>

#include "emulator/host/for_blocks.hpp"

namespace gdr::tree {
namespace {

/// Limits of the lists that are kept at once, of which the entries are passed by one step at most.
constexpr std::size_t max_entries = 1 << 23, max_lists = 4096;
/// Lists that are made before entries are counted again: few as long as lengths are unknown.
constexpr std::size_t max_step = 128, lists_of_block = 8;

}  // namespace

std::size_t GroupLists::make(std::span<const Group> groups, const Hierarchy& hierarchy) {
  const std::size_t least = lists_of_block * std::max(1U, threads_);
  std::size_t made = 0, entries = 0;
  while (made < groups.size() && made < max_lists && entries < max_entries) {
    const std::size_t room = longest_ == 0 ? 0 : max_entries / longest_;
    const std::size_t step =
        std::min(std::clamp(room, least, std::max(least, max_step)), groups.size() - made);
    if (lists_.size() < made + step) lists_.resize(made + step);
    for_blocks(step, lists_of_block, threads_, [&](std::size_t first, std::size_t last) {
      std::vector<std::uint32_t> stack;
      for (std::size_t k = made + first; k < made + last; ++k)
        list_sources(hierarchy, groups[k], lists_[k], stack);
    });
    for (std::size_t k = made; k < made + step; ++k) {
      const std::size_t length = lists_[k].size();
      longest_ = std::max(longest_, length);
      entries += length;
      pairs += static_cast<double>(length) * static_cast<double>(groups[k].count);
    }
    made += step;
  }
  return made;
}

}  // namespace gdr::tree
