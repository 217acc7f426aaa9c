// Recognition of bodies that compute a matrix product: words of the PEs times words of the items.
// Such a body can be computed without its instructions, in any order of rows and columns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/chip/state.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// A word of every PE.
struct PeWord {
  Space space = Space::Local;  ///< Local or Register
  std::uint16_t address = 0;   ///< address in shorts
  friend bool operator==(const PeWord&, const PeWord&) = default;
};
/// The upper shorts of a word, by PE.
inline const std::uint64_t* lanes_of(const BlockState& block, const PeWord& word) noexcept {
  const LaneMemory& memory = word.space == Space::Local ? block.local : block.registers;
  return memory.data() + std::size_t{word.address} * block.pes;
}

/// Outputs of the body for an item: sums of products (dmul, rounded to long; then fadd to long),
///
///   sum(row, PE) = (word(row, 0) x item(0) + word(row, 1) x item(1)) + ...
///
/// with item(k) the long at short address 2 k, or, where all factors are shorts, the short at
/// address k (their products are whole after one pass of the multiplier: fmul has the bits of
/// dmul). Output n, the long at short address 2 n of the item that comes `delay` later, is such a
/// sum.
struct MatmulPattern {
  struct Output {
    std::uint32_t row = 0, pe = 0;
  };
  Width width = Width::Long;              ///< width of all factors
  std::uint32_t depth = 0;                ///< factors of a sum, and words of an item
  std::uint32_t delay = 0;                ///< delay, items
  std::vector<std::vector<PeWord>> rows;  ///< [row][factor]: words that the body only reads
  std::vector<Output> outputs;
  bool begins_with_zeros = false;  ///< outputs of the first `delay` items are all +0
};

/// The pattern of a body; nothing if it computes anything else, if Start or End do more than write
/// registers, or if the run has results in the PEs.
std::optional<MatmulPattern> match_matmul(const Program& program);

}  // namespace gdr
