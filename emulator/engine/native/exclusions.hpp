// Conditions that leave out few pairs, and loops that do without them.
//
// A kernel leaves out the pair of a target with itself: equal ids, or a distance of zero. Nearly
// all passes of a loop meet no such pair, and the comparisons and masks are up to a quarter of a
// short loop's work. So a loop is compiled twice: as it is, and for passes in which it is known
// beforehand that no lane meets the condition. Both give the same bits there.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emulator/engine/native/segment.hpp"

namespace gdr::native {

/// A condition on the ids of a target and of a source: words of integers or bits.
struct EqualWords {
  std::uint32_t slot = 0;  ///< input of the kernel, not carried
  LeafKey source;          ///< without delay
  friend bool operator==(const EqualWords&, const EqualWords&) = default;
};

/// A loop without the conditions that hold for few pairs.
struct FreeLoop {
  bool usable = false;  ///< there is one
  Segment loop;
  /// It may be run where all these inputs and words that do not move are positive ...
  std::vector<std::uint32_t> positive_slots;
  std::vector<LeafKey> positive_uniforms;
  /// ... for passes whose sources, of this pass and of the last one, have no such word in common
  /// with a target.
  std::vector<EqualWords> equal;
};

/// The loop (lowered) without conditions that can be known beforehand. `carried_slots`: inputs that
/// a pass hands on to the next.
FreeLoop without_exclusions(const Segment& loop, std::span<const std::uint32_t> carried_slots);

/// Which values source words have: the smallest and the largest of every window of some groups.
struct SourceWindows {
  static constexpr std::uint64_t groups = 64;  ///< of a window
  /// Of one word, by window.
  struct Ranges {
    std::vector<std::int64_t> least, most;
  };
  std::vector<LeafKey> words;
  std::vector<Ranges> ranges;  ///< by word
};

/// A piece of a loop: some passes with conditions, then some without. A list of them ends with one
/// that has neither.
struct LoopRun {
  std::uint64_t guarded = 0, free = 0;
};

/// Passes 1 .. passes - 2 of a loop as runs, where pass p meets group p and, late, group p - 1.
/// `hit`: by window, whether a lane may meet the condition in one of its groups.
void plan_runs(std::uint64_t passes, std::span<const std::uint8_t> hit, std::vector<LoopRun>& runs);

}  // namespace gdr::native
