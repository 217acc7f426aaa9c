// The sources of a job: their link words on the host, what of them changed since a board saw them,
// and where they lie in the memories of a board's chips.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emulator/board/command.hpp"

namespace gdr {

/// Consecutive sources or targets.
struct IndexRange {
  std::size_t first = 0, count = 0;
};

/// Link words of all sources, with a log of changes. A board remembers the state it has as a
/// SourceVersion; what it lacks is the log from there on.
struct SourceVersion {
  std::uint64_t job = 0;         ///< number of the job, 0 for none
  std::uint64_t generation = 0;  ///< counts complete replacements
  std::size_t changes = 0;       ///< entries of the log that it has
  ChipPartition partition{};     ///< how they are placed
  std::size_t slices = 1;        ///< and in how many slices
  friend bool operator==(const SourceVersion&, const SourceVersion&) = default;
};

/// Slices that a board has of sources that are sent slice by slice.
struct PartialSources {
  SourceVersion version = {};
  std::vector<bool> resident = {};  ///< by slice
};

class SourceStore {
 public:
  /// Put n sources in the place of those there were; `words`, of `item_words` each, gets the old
  /// ones' memory.
  void replace(std::size_t n, std::uint32_t item_words, std::vector<std::uint64_t>& words);
  /// The same for sources that are still to come: returns where their words shall go.
  std::uint64_t* replace(std::size_t n, std::uint32_t item_words);
  /// Overwrite some.
  void update(IndexRange range, const std::uint64_t* words);

  std::span<const std::uint64_t> words() const noexcept { return words_; }
  std::size_t count() const noexcept { return count_; }
  std::uint32_t item_words() const noexcept { return item_words_; }
  std::uint64_t generation() const noexcept { return generation_; }
  const std::vector<IndexRange>& log() const noexcept { return log_; }

 private:
  void note(IndexRange range);

  std::vector<std::uint64_t> words_;
  std::size_t count_ = 0;
  std::uint32_t item_words_ = 0;
  std::uint64_t generation_ = 0;
  std::vector<IndexRange> log_;
};

/// Sources that lie side by side in the memory of some chips.
struct Segment {
  std::uint64_t chips = 0;  ///< the chips that hold them, a bit each
  std::size_t place = 0;    ///< first item's number in those chips' memory
  IndexRange sources;
};

/// Where a range of sources lies: the same in every chip, or (sources split) an equal part in each
/// chip, and behind it one more in the first chips where the number does not divide.
std::vector<Segment> place_sources(ChipPartition partition, unsigned chips, IndexRange range);

/// Sources that the chips' memories take at once, if an item has `words` words in all.
std::size_t source_capacity(ChipPartition partition, unsigned chips, std::uint64_t memory_words,
                            std::size_t words);

constexpr std::uint64_t all_chips(unsigned chips) {
  return chips >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << chips) - 1;
}

}  // namespace gdr
