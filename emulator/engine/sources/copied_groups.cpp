#include "emulator/engine/sources/copied_groups.hpp"

#include <algorithm>

namespace gdr {

void add_missing_groups(const CopiedGroups& copy, const EncodedGroups& now,
                        std::vector<ChangedRange>& groups) {
  if (copy.is_current(now)) return;
  std::vector<ChangedRange> changes;
  const bool known = copy.has_place_of(now) && copy.revision != 0 && now.changes != nullptr &&
                     now.changes->changes_since(copy.revision, changes);
  if (!known) {
    if (now.count != 0) groups.push_back({0, now.count});
    return;
  }
  for (const ChangedRange& change : changes) {
    const std::uint64_t begin = std::max(change.first, now.first);
    const std::uint64_t end = std::min(change.end(), now.first + now.count);
    if (begin < end) groups.push_back({begin - now.first, end - begin});
  }
}

}  // namespace gdr
