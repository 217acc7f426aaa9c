// Loops whose iterations rarely change anything: of the k nearest neighbours of a target, or of a
// minimum with its index, a source is one only if its key is better than the worst one so far.
// After n sources that happens with a probability of k/n.
//
// Such a loop only tests the condition, and executes the iteration where it holds in any lane.
#pragma once

#include <cstdint>
#include <span>

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// A segment that only computes the mask without which an iteration of the lowered loop changes no
/// carried value (Store::Area::Test). It has no stores if there is no such mask, or if the test
/// would not save much. `carried_slots`: loop-carried inputs.
Segment test_of_rare_update(const Segment& loop, std::span<const std::uint32_t> carried_slots);

}  // namespace gdr::native
