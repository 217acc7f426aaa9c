// The sources of a job: their link words on the host, with a log of changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emulator/port/change_log.hpp"
#include "emulator/port/partition.hpp"
#include "libgdr/device/arrays.hpp"

namespace gdr {

/// Consecutive sources or targets.
struct IndexRange {
  std::size_t first = 0, count = 0;
};

/// Sources of a job, or columns of a matrix, that were sent to a board's memories: their revision
/// at the host, from which SourceStore's log tells what to send next. The board need not be
/// emulated.
struct SentSources {
  Revision revision = 0;  ///< revision of the records; 0: none
  ChipPartition partition{};
  std::size_t parts = 0;  ///< number of slices of the sources, or of resident blocks of columns
  /// By slice, while slices are sent one by one: whether it is resident. Empty: all are.
  std::vector<bool> arrived = {};
};

/// Records of all sources, with a log of changes.
class SourceStore {
 public:
  /// Replaces all sources by n in `words`, of `item_words` words each; swaps the storage.
  void replace(std::size_t n, std::uint32_t item_words, LinkWords& words) {
    words_.swap(words);
    count_ = n;
    item_words_ = item_words;
    changes_.restart(longest_log());
  }
  /// Replaces all sources by n uninitialised ones; returns their storage.
  std::uint64_t* replace(std::size_t n, std::uint32_t item_words) {
    LinkWords words = std::move(words_);
    words.resize(n * item_words);
    words.shrink_to_fit();
    replace(n, item_words, words);
    return words_.data();
  }
  /// Overwrites a range of sources.
  void update(IndexRange range, const std::uint64_t* words) {
    if (range.count == 0) return;
    std::copy_n(words, range.count * item_words_, item(range.first));
    changes_.add({range.first, range.count});
  }
  /// Overwrites the sources with these indices.
  void update(std::span<const std::int32_t> places, const std::uint64_t* words) {
    for (const std::int32_t place : places) {
      std::copy_n(words, item_words_, item(static_cast<std::size_t>(place)));
      words += item_words_;
    }
    std::vector<std::int32_t> sorted(places.begin(), places.end());
    std::ranges::sort(sorted);
    for (std::size_t k = 0; k < sorted.size();) {
      const auto first = static_cast<std::size_t>(sorted[k]);
      std::size_t end = first + 1;
      for (; k < sorted.size() && static_cast<std::size_t>(sorted[k]) < end + gap; ++k)
        end = static_cast<std::size_t>(sorted[k]) + 1;
      changes_.add({first, end - first});
    }
  }

  std::span<const std::uint64_t> words() const noexcept { return words_; }
  std::size_t count() const noexcept { return count_; }
  std::uint32_t item_words() const noexcept { return item_words_; }
  /// Revisions and changed items.
  const ChangeLog& changes() const noexcept { return changes_; }

 private:
  /// Number of changes in the log: so many that to send all sources after more adds little to the
  /// changes themselves.
  std::size_t longest_log() const noexcept { return 256 + 2 * count_; }
  /// Changes that are nearer to each other than this are sent in one piece.
  static constexpr std::size_t gap = 16;

  std::uint64_t* item(std::size_t number) { return words_.data() + number * item_words_; }
  LinkWords words_;
  std::size_t count_ = 0;
  std::uint32_t item_words_ = 0;
  ChangeLog changes_{0};
};

}  // namespace gdr
