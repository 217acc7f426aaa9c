// The sources of a job: their link words on the host, with a log of changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emulator/board/command.hpp"
#include "libgdr/device/arrays.hpp"

namespace gdr {

/// Consecutive sources or targets.
struct IndexRange {
  std::size_t first = 0, count = 0;
};

/// Version of a job's sources. The changes of a board's copy are the log entries after its version.
struct SourceVersion {
  std::uint64_t job = 0;         ///< job number; 0: none
  std::uint64_t generation = 0;  ///< number of complete replacements
  std::size_t changes = 0;       ///< number of log entries included
  ChipPartition partition{};     ///< partition of the sources
  std::size_t slices = 1;        ///< number of slices
  friend bool operator==(const SourceVersion&, const SourceVersion&) = default;
};

/// Resident slices of sources that are sent by slices.
struct PartialSources {
  SourceVersion version = {};
  std::vector<bool> resident = {};  ///< by slice: whether it is resident
};

/// Link words of all sources, with a log of changes.
class SourceStore {
 public:
  /// Replaces all sources by n in `words`, of `item_words` words each; swaps the storage.
  void replace(std::size_t n, std::uint32_t item_words, LinkWords& words) {
    words_.swap(words);
    count_ = n;
    item_words_ = item_words;
    ++generation_;
    log_.clear();
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
    log_change(range);
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
      log_change({first, end - first});
    }
  }

  std::span<const std::uint64_t> words() const noexcept { return words_; }
  std::size_t count() const noexcept { return count_; }
  std::uint32_t item_words() const noexcept { return item_words_; }
  std::uint64_t generation() const noexcept { return generation_; }
  const std::vector<IndexRange>& log() const noexcept { return log_; }

 private:
  /// Number of logged changes after which all sources are sent again: so many that this adds
  /// little to the changes themselves.
  std::size_t longest_log() const noexcept { return 256 + 2 * count_; }
  /// Changes that are nearer to each other than this are sent in one piece.
  static constexpr std::size_t gap = 16;

  std::uint64_t* item(std::size_t number) { return words_.data() + number * item_words_; }
  void log_change(IndexRange range) {
    if (log_.size() >= longest_log()) {
      ++generation_;
      log_.clear();
    }
    log_.push_back(range);
  }

  LinkWords words_;
  std::size_t count_ = 0;
  std::uint32_t item_words_ = 0;
  std::uint64_t generation_ = 0;
  std::vector<IndexRange> log_;
};

}  // namespace gdr
