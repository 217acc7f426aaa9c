// Values that all iterations of a loop would compute alike.
#pragma once

#include <span>

#include "emulator/engine/native/translate/segment.hpp"

namespace gdr::native {

/// Functions in floats are recognised as a whole, also where the program has computed them before
/// the loop. Moves what the loop computes from words that it does not change, in more than a few
/// operations, to the first iteration, which leaves it in slots like those of totals: `total` and
/// so on, read as inputs `input` and so on. Returns how many.
std::uint32_t hoist(Segment& first, Segment& loop, std::span<const std::uint32_t> carried_slots,
                    std::uint32_t total, std::uint32_t input);

}  // namespace gdr::native
