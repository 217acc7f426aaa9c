// Conversion of words of the state to lanes of doubles or floats and back, eight at a time, on
// hosts with AVX-512.
#pragma once

#include <span>

#include "emulator/engine/native/words/word_conversion.hpp"

namespace gdr::native {

/// words_to_lanes and lanes_to_row for all rows of the state. Lanes without a PE become zero. False
/// if an integer exceeds the 32 bits of a float lane.
bool rows_to_lanes_avx512(std::span<const RowTransfer> rows, Precision precision,
                          const BlockState& block, const WorkItems& items) noexcept;
void lanes_to_rows_avx512(std::span<const RowTransfer> rows, Precision precision,
                          const WorkItems& items, BlockState& block) noexcept;

}  // namespace gdr::native
