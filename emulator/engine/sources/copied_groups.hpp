// Copies of encoded j-items in another memory, that of a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulator/port/change_log.hpp"

namespace gdr {

/// Groups of j-items in the form of an engine.
struct EncodedGroups {
  const std::byte* groups = nullptr;
  std::uint64_t count = 0;
  const ChangeLog* changes = nullptr;  ///< changed groups of the form; null: not known
  std::uint64_t first = 0;             ///< number of the first group in this log

  Revision revision() const noexcept { return changes != nullptr ? changes->revision() : 0; }
};

/// The groups that a copy was made from.
struct CopiedGroups {
  const std::byte* groups = nullptr;
  std::uint64_t count = 0;
  Revision revision = 0;  ///< revision of the groups; 0: not known

  CopiedGroups() = default;
  explicit CopiedGroups(const EncodedGroups& from) noexcept
      : groups(from.groups), count(from.count), revision(from.revision()) {}

  bool has_place_of(const EncodedGroups& now) const noexcept {
    return groups == now.groups && count == now.count;
  }
  bool is_current(const EncodedGroups& now) const noexcept {
    return has_place_of(now) && revision != 0 && revision == now.revision();
  }
};

/// Appends the groups that a copy lacks, counted from the first of `now`: all of them if it is not
/// known what has changed.
void add_missing_groups(const CopiedGroups& copy, const EncodedGroups& now,
                        std::vector<ChangedRange>& groups);

}  // namespace gdr
