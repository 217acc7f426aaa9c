// Storage, versions and placement of sources.
#include "libgdr/device/sources.hpp"

#include <algorithm>

namespace gdr {
namespace {
/// Largest number of logged changes, after which all sources are sent again.
constexpr std::size_t longest_log = 256;
}  // namespace

void SourceStore::replace(std::size_t n, std::uint32_t item_words,
                          std::vector<std::uint64_t>& words) {
  words_.swap(words);
  count_ = n;
  item_words_ = item_words;
  ++generation_;
  log_.clear();
}

std::uint64_t* SourceStore::replace(std::size_t n, std::uint32_t item_words) {
  std::vector<std::uint64_t> words = std::move(words_);
  words.resize(n * item_words);
  words.shrink_to_fit();
  replace(n, item_words, words);
  return words_.data();
}

void SourceStore::update(IndexRange range, const std::uint64_t* words) {
  std::copy_n(words, range.count * item_words_, words_.data() + range.first * item_words_);
  note(range);
}

/// Logs a change.
void SourceStore::note(IndexRange range) {
  if (range.count == 0) return;
  if (log_.size() == longest_log) {
    ++generation_;
    log_.clear();
  }
  log_.push_back(range);
}

std::vector<Segment> place_sources(ChipPartition partition, unsigned chips, IndexRange range) {
  if (range.count == 0) return {};
  if (partition == ChipPartition::TargetsOverBlocks) return {{all_chips(chips), 0, range}};
  const std::size_t part = range.count / chips;
  const auto rest = static_cast<unsigned>(range.count % chips);
  std::vector<Segment> segments;
  for (unsigned c = 0; c < chips && part > 0; ++c)
    segments.push_back({std::uint64_t{1} << c, 0, {range.first + c * part, part}});
  for (unsigned c = 0; c < rest; ++c)
    segments.push_back({std::uint64_t{1} << c, part, {range.first + chips * part + c, 1}});
  return segments;
}

std::size_t source_capacity(ChipPartition partition, unsigned chips, std::uint64_t memory_words,
                            std::size_t words) {
  const std::size_t of_chip = memory_words / std::max<std::size_t>(1, words);
  return partition == ChipPartition::SourcesOverBlocks ? of_chip * chips : of_chip;
}

}  // namespace gdr
