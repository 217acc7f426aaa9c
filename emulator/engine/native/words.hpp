// Machine words as the host's numbers, many at a time, and back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/chip/state.hpp"
#include "emulator/engine/native/cells.hpp"
#include "emulator/engine/native/lower.hpp"

namespace gdr::native {

/// Words of one location: an upper and a lower short (the same where there is one), `stride`
/// places apart from one word to the next.
struct WordsIn {
  const std::uint64_t* upper;
  const std::uint64_t* lower;
  std::size_t stride;
};
struct WordsOut {
  std::uint64_t* upper;
  std::uint64_t* lower;
};

/// n words to lanes, `step` bytes apart. False if an integer does not fit beside floats (they have
/// 32 bits there); the lanes are then of no use.
bool words_to_lanes(Take take, Precision precision, WordsIn from, std::size_t n, std::byte* to,
                    std::size_t step) noexcept;

/// n adjacent lanes to words that stand side by side: rounded to nearest even into the word's
/// format, NaN the canonical one, what is below the smallest number zero.
void lanes_to_words(Take take, Precision precision, const std::byte* from, std::size_t n,
                    WordsOut to) noexcept;

/// The rows of a cell in a block.
struct CellRow {
  LaneMemory BlockState::*memory = &BlockState::registers;
  std::uint32_t row = 0;

  const std::uint64_t* in(const BlockState& block) const noexcept {
    return (block.*memory).data() + std::size_t{row} * block.pes;
  }
  std::uint64_t* in(BlockState& block) const noexcept {
    return (block.*memory).data() + std::size_t{row} * block.pes;
  }
};
CellRow cell_row(const CellMap& map, LeafKey key) noexcept;

/// Eight doubles at a time, for hosts with AVX-512: what words_to_lanes and lanes_to_words do.
void eight_words_to_lanes(Take take, const std::uint64_t* upper, const std::uint64_t* lower,
                          std::byte* to) noexcept;
void eight_lanes_to_words(Take take, const std::byte* from, WordsOut to) noexcept;

}  // namespace gdr::native
