// Blocked summation: floats that a loop adds up over thousands of sources.
//
// A running sum of n floats loses up to n/2 units of its last place. So the loop adds to partial
// sums, and after every block of terms these move to totals, pairs of floats whose second one holds
// what the first one lost (Knuth's two-sum). The error of a sum is then that of its terms and of
// one block.
#pragma once

#include <cstdint>
#include <span>

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// Terms of a block. A move costs some ten instructions a sum. With 64 terms the error of a block
/// is less than that of a term; with 256 it is less than that of rounded positions.
constexpr std::uint32_t accurate_block = 64, coarse_block = 256;

/// Segments around the blocks of a loop; all change carried values in place.
struct BlockedSums {
  std::uint32_t count = 0;       ///< sums; 0: the loop is not divided
  std::uint64_t iterations = 0;  ///< iterations of a block; one may add several terms to a sum
  Segment begin;                 ///< clears the totals
  Segment move;                  ///< adds the partial sums to the totals and clears them
  Segment finish;                ///< carried values: totals and partial sums together
  /// Slots of totals: two for each sum.
  std::uint32_t slots() const noexcept { return 2 * count; }
};

/// Whether all carried values of a lowered loop only collect terms, or do not change: any order of
/// iterations then gives their sums, but for rounding.
bool only_sums(const Segment& loop, std::span<const std::uint32_t> carried_slots);

/// The carried values of a lowered loop that only collect terms, so many in a block.
/// `carried_slots`: loop-carried inputs; `first_total`: slot of the first total.
BlockedSums make_blocked_sums(const Segment& loop, std::span<const std::uint32_t> carried_slots,
                              std::uint32_t first_total, std::uint32_t block_terms);

}  // namespace gdr::native
