#include "emulator/port/change_log.hpp"

#include <algorithm>
#include <atomic>

namespace gdr {

Revision next_revision() noexcept {
  static std::atomic<Revision> last = 0;
  return ++last;
}

void ChangeLog::add(ChangedRange range) {
  if (changes_.size() >= capacity_) {
    const std::size_t forgotten = (changes_.size() + 1) / 2;
    if (forgotten != 0) base_ = changes_[forgotten - 1].revision;
    changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(forgotten));
  }
  revision_ = next_revision();
  changes_.push_back({revision_, range});
}

void ChangeLog::restart() {
  changes_.clear();
  base_ = revision_ = next_revision();
}

void ChangeLog::restart(std::size_t capacity) {
  capacity_ = capacity;
  restart();
}

bool ChangeLog::changes_since(Revision revision, std::vector<ChangedRange>& ranges) const {
  // Revisions grow from change to change.
  auto next = std::ranges::upper_bound(changes_, revision, {}, &Change::revision);
  const Revision before = next == changes_.begin() ? base_ : std::prev(next)->revision;
  if (before != revision) return false;
  for (; next != changes_.end(); ++next) ranges.push_back(next->range);
  return true;
}

}  // namespace gdr
