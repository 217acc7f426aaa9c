// Loop versioning: a second loop without conditions that rarely hold.
//
// A kernel excludes the pair of a target with itself: equal ids, or a distance of zero. Nearly all
// iterations contain no such pair, and the comparisons and masks are up to a quarter of a short
// loop's work. So a loop is compiled twice: with the conditions, and without them for iterations in
// which no lane can meet one. Both give the same bits there.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// Equality of an id of a target and an id of a source: words of integers or bits.
struct EqualWords {
  std::uint32_t slot = 0;  ///< input of the kernel, not carried
  LeafKey source;          ///< source word, without delay
  friend bool operator==(const EqualWords&, const EqualWords&) = default;
};

/// A loop without conditions that rarely hold.
struct UnguardedLoop {
  bool usable = false;  ///< whether there is such a loop
  Segment loop;
  /// Valid if all these inputs and invariant words are positive ...
  std::vector<std::uint32_t> positive_slots;
  std::vector<LeafKey> positive_uniforms;
  /// ... for iterations in which no source, of this iteration or the previous one, has such a word
  /// equal to a target's.
  std::vector<EqualWords> equal;
};

/// The lowered loop without conditions that can be decided in advance. `carried_slots`:
/// loop-carried inputs.
UnguardedLoop make_unguarded_loop(const Segment& loop,
                                  std::span<const std::uint32_t> carried_slots);

/// Ranges of source words: minimum and maximum for every window of groups.
struct SourceWindows {
  static constexpr std::uint64_t groups = 64;  ///< groups per window
  /// Ranges of one word, by window.
  struct Ranges {
    std::vector<std::int64_t> least, most;
  };
  std::vector<LeafKey> words;
  std::vector<Ranges> ranges;  ///< ranges of each word
};

/// A run of iterations: some with conditions, then some without. A list ends with an empty one.
struct LoopRun {
  std::uint64_t guarded = 0, free = 0;
  std::uint64_t ends_block = 0;  ///< whether a block of sums ends with it (0 or 1)
};

}  // namespace gdr::native
