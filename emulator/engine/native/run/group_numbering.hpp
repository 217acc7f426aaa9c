// How j-items are numbered as groups, with pads at the end of each chunk of groups.
#pragma once

#include <algorithm>
#include <cstdint>

#include "emulator/engine/native/program/program.hpp"
#include "emulator/host/divide_up.hpp"

namespace gdr::native {

/// A loop may end after any chunk of groups: a program that processes several items at a time may
/// finish the last ones in section End, from rounded shorts, so a group of pads, copies of the
/// chunk's last item, ends each chunk.
class GroupNumbering {
 public:
  static constexpr std::uint64_t chunk_groups = 1024;  ///< groups of a chunk: whole windows
  static_assert(chunk_groups % SourceWindows::groups == 0);

  /// `group`: items of a group.
  explicit GroupNumbering(std::uint64_t group) noexcept
      : group_(group), items_per_chunk_((chunk_groups - pad_groups()) * group) {}

  /// The group of an item.
  std::uint64_t group_of(std::uint64_t item) const noexcept {
    return item / items_per_chunk_ * chunk_groups + item % items_per_chunk_ / group_;
  }
  /// The first item of a group, or the end of the chunk's items for pads.
  std::uint64_t first_item(std::uint64_t group) const noexcept {
    return group / chunk_groups * items_per_chunk_ +
           std::min(items_per_chunk_, group % chunk_groups * group_);
  }
  /// Number of groups of some items, with pads.
  std::uint64_t groups_for(std::uint64_t items) const noexcept {
    const std::uint64_t rest = items % items_per_chunk_;
    const std::uint64_t more = rest == 0 ? 0 : divide_up(rest, group_) + pad_groups();
    return items / items_per_chunk_ * chunk_groups + more;
  }

 private:
  std::uint64_t pad_groups() const noexcept { return group_ > 1 ? 1 : 0; }

  std::uint64_t group_;
  std::uint64_t items_per_chunk_;  ///< number of items, without pads
};

}  // namespace gdr::native
