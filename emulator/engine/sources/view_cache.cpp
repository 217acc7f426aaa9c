#include "emulator/engine/sources/view_cache.hpp"

#include <algorithm>

namespace gdr {

bool ViewCache::update(std::span<const RecordSegment> segments, std::uint64_t record_words) {
  now_.clear();
  for (const RecordSegment& s : segments) now_.push_back(key_of(s, record_words));
  if (complete_ && now_ == keys_) {
    segments_.assign(segments.begin(), segments.end());  // perhaps of another, equal memory
    return false;
  }
  segments_.assign(segments.begin(), segments.end());
  record_words_ = record_words;
  changed_.clear();
  const std::uint64_t items = gdr::items_of(segments);
  new_ = !complete_ || keys_.size() != now_.size() || items != items_;
  items_ = items;
  if (new_) {
    add({0, items});
  } else {
    std::uint64_t first = 0;
    for (std::size_t s = 0; s < now_.size(); ++s) {
      add_changes(segments[s], keys_[s], now_[s], first);
      first += now_[s].items;
    }
  }
  keys_.swap(now_);
  if (!new_ && changed_.empty()) return false;  // other words of the memories have changed
  complete_ = false;
  return true;
}

bool ViewCache::has_place_of(std::span<const RecordSegment> segments,
                             std::uint64_t record_words) const noexcept {
  return std::ranges::equal(keys_, segments, [&](const SourceKey& key, const RecordSegment& s) {
    return key.has_place_of(key_of(s, record_words));
  });
}

/// A range that continues the last one joins it.
void ViewCache::add(ChangedRange range) {
  if (!changed_.empty() && changed_.back().end() == range.first)
    changed_.back().count += range.count;
  else
    changed_.push_back(range);
}

void ViewCache::add_changes(const RecordSegment& segment, const SourceKey& had,
                            const SourceKey& now, std::uint64_t first) {
  if (had == now) return;
  words_.clear();
  if (!had.has_place_of(now) || !segment.memory->changes_since(had.revision, words_))
    return add({first, now.items});
  items_of_segment_.clear();
  std::uint64_t changed = 0;
  const std::uint64_t behind = now.address + now.items * now.record_words;
  for (const ChangedRange& change : words_) {
    const std::uint64_t begin = std::max(change.first, now.address);
    const std::uint64_t end = std::min(change.end(), behind);
    if (begin >= end) continue;
    const std::uint64_t item = (begin - now.address) / now.record_words;
    const std::uint64_t last = (end - 1 - now.address) / now.record_words;
    items_of_segment_.push_back({first + item, last + 1 - item});
    changed += items_of_segment_.back().count;
  }
  // Another program's sources were here in the meantime: its changes cover the items many times.
  if (changed >= now.items) return add({first, now.items});
  for (const ChangedRange& range : items_of_segment_) add(range);
}

}  // namespace gdr
