// Which items of a loop have to be encoded again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/sources/source_view.hpp"

namespace gdr {

/// Every engine encodes j-items in a form of its own, and keeps it for the next pass. This tells
/// which items the form lacks. Its owner encodes them between `update` and `commit`; without
/// `commit` all are encoded the next time.
class ViewCache {
 public:
  /// Goes on to the records of some segments. False if the form has all of them.
  bool update(std::span<const RecordSegment> segments, std::uint64_t record_words);
  /// Whether the form is one of records in these places, whatever their words are.
  bool has_place_of(std::span<const RecordSegment> segments,
                    std::uint64_t record_words) const noexcept;
  /// The items to encode after `update`: disjoint ranges in ascending order, or overlapping ones
  /// where the memory was written to several times.
  std::span<const ChangedRange> changed() const noexcept { return changed_; }
  /// Whether these are all items, and perhaps of another number.
  bool is_new() const noexcept { return new_; }
  void commit() noexcept { complete_ = true; }
  void discard() noexcept { complete_ = false; }

  /// The records of the last `update`.
  SourceView view() const noexcept { return {segments_, record_words_}; }
  std::uint64_t items() const noexcept { return items_; }

 private:
  void add(ChangedRange range);
  void add_changes(const RecordSegment& segment, const SourceKey& had, const SourceKey& now,
                   std::uint64_t first);

  std::vector<RecordSegment> segments_;
  std::uint64_t record_words_ = 0, items_ = 0;
  std::vector<SourceKey> keys_;  ///< keys of the segments
  bool complete_ = false, new_ = true;
  std::vector<ChangedRange> changed_;
  // Members for their memory, since small calls are frequent.
  std::vector<SourceKey> now_;
  std::vector<ChangedRange> words_, items_of_segment_;
};

/// Changes of an encoded form, whose users copy it in part: number of changes that it remembers.
constexpr std::size_t encoded_changes = 64;

}  // namespace gdr
