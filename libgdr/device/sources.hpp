// The sources of a job: their link words on the host, a log of changes, and their placement in the
// memories of a board's chips.
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
  void replace(std::size_t n, std::uint32_t item_words, std::vector<std::uint64_t>& words);
  /// Replaces all sources by n uninitialised ones; returns their storage.
  std::uint64_t* replace(std::size_t n, std::uint32_t item_words);
  /// Overwrites a range of sources.
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

/// Sources that are contiguous in the memory of some chips.
struct Segment {
  std::uint64_t chips = 0;  ///< mask of the chips
  std::size_t place = 0;    ///< index of the first item in the chips' memory
  IndexRange sources;
};

/// Placement of a range of sources: all of it in every chip, or (j-parallel) an equal part in each
/// chip and the remainder, one source each, in the first chips.
std::vector<Segment> place_sources(ChipPartition partition, unsigned chips, IndexRange range);

/// Number of sources that fit the chips' memories at once, with `words` words per item.
std::size_t source_capacity(ChipPartition partition, unsigned chips, std::uint64_t memory_words,
                            std::size_t words);

constexpr std::uint64_t all_chips(unsigned chips) {
  return chips >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << chips) - 1;
}

}  // namespace gdr
