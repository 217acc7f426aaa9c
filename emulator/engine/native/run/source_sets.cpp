#include "emulator/engine/native/run/source_sets.hpp"

#include <algorithm>

namespace gdr::native {
namespace {

/// Whether two lists of segments share words; a source has so many.
bool share_words(std::span<const RecordSegment> a, std::span<const RecordSegment> b,
                 std::uint64_t words) noexcept {
  return std::ranges::any_of(a, [&](const RecordSegment& x) {
    return std::ranges::any_of(b, [&](const RecordSegment& y) {
      return x.memory == y.memory && x.address < y.address + y.items * words &&
             y.address < x.address + x.items * words;
    });
  });
}

}  // namespace

SourceSets::SourceSets(const CompiledSection& body, const LoadedProgram& loaded, bool with_vectors,
                       bool several)
    : body_(body), loaded_(loaded), with_vectors_(with_vectors), several_(several) {
  now_ = &sets_.emplace_back(body, loaded, with_vectors);
}

/// Whether there is no room for one more set.
bool SourceSets::is_full(std::span<const RecordSegment> more) const noexcept {
  std::uint64_t items = items_of(more);
  for (const SourceSet& set : sets_) items += items_of(set.segments);
  return items * loaded_.layout.source_words > max_words;
}

bool SourceSets::use(std::span<const RecordSegment> segments) {
  const SourceSet* const before = now_;
  const auto known = std::ranges::find_if(
      sets_, [&](const SourceSet& set) { return std::ranges::equal(set.segments, segments); });
  if (known != sets_.end()) {
    now_ = &*known;
    return now_ != before;
  }
  const std::uint64_t words = loaded_.layout.source_words;
  const auto is_taken = [&](const SourceSet& set) {
    return !several_ || set.segments.empty() || share_words(set.segments, segments, words);
  };
  const auto taken = std::ranges::find_if(sets_, is_taken);
  if (taken != sets_.end())
    now_ = &*taken;
  else if (is_full(segments))
    now_ = &sets_.back();  // the first ones stay
  else
    now_ = &sets_.emplace_back(body_, loaded_, with_vectors_);
  sets_.remove_if([&](const SourceSet& set) { return &set != now_ && is_taken(set); });
  now_->segments.assign(segments.begin(), segments.end());
  return now_ != before;
}

}  // namespace gdr::native
