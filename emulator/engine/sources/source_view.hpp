// The records of a loop's j-items, where they lie in the control processors' memories.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/port/memory.hpp"

namespace gdr {

/// Consecutive records in a memory.
struct RecordSegment {
  const BoardMemory* memory = nullptr;
  std::uint64_t address = 0, items = 0;
  friend bool operator==(const RecordSegment&, const RecordSegment&) = default;
};

/// The revision and the place of the records that something was derived from: equal keys, equal
/// records.
struct SourceKey {
  Revision revision = 0;  ///< revision of the memory
  std::uint64_t address = 0, items = 0;
  std::uint64_t record_words = 0;  ///< words from a record to the next
  friend bool operator==(const SourceKey&, const SourceKey&) = default;
  /// Whether the records have the same place, whatever their words are.
  bool has_place_of(const SourceKey& other) const noexcept {
    return address == other.address && items == other.items && record_words == other.record_words;
  }
};
SourceKey key_of(const RecordSegment& segment, std::uint64_t record_words) noexcept;

/// The number of items of some segments.
std::uint64_t items_of(std::span<const RecordSegment> segments) noexcept;

/// The records of some segments as one list.
struct SourceView {
  std::span<const RecordSegment> segments;
  std::uint64_t record_words = 0;

  /// The words of `count` records from the first on: in place if they are contiguous, else copied
  /// to `scratch`.
  const std::uint64_t* records(std::uint64_t first, std::uint64_t count,
                               std::vector<std::uint64_t>& scratch) const;
  /// Calls visit(segment, address, words) for each part of these records.
  template <typename Visit>
  void for_each_part(std::uint64_t first, std::uint64_t count, Visit visit) const {
    std::uint64_t before = 0;
    for (const RecordSegment& s : segments) {
      const std::uint64_t begin = first > before ? first : before;
      const std::uint64_t end = first + count < before + s.items ? first + count : before + s.items;
      if (begin < end)
        visit(s, s.address + (begin - before) * record_words, (end - begin) * record_words);
      before += s.items;
    }
  }
};

}  // namespace gdr
