// The reduction network: results and output items of many blocks joined to one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/api/pass.hpp"

namespace gdr {

/// Results (`fields` of them) of the slots first..last - 1 joined by the network: over the blocks
/// of a chip where all hold the same targets, then over the chips, pair by pair in the order of
/// their numbers.
void join_results(const LoadedProgram& loaded, std::span<const ChipState* const> chips,
                  const TargetSlots& slots, std::span<const PortField> fields, std::uint64_t first,
                  std::uint64_t last, std::uint64_t* records);

/// The same slots as words of the network, two words a field, of all fields (see read_raw).
void join_raw(const LoadedProgram& loaded, std::span<const ChipState* const> chips,
              const TargetSlots& slots, std::uint64_t first, std::uint64_t last,
              std::uint64_t* records);

/// Reduces the output items of all blocks for the same `count` j-items (shorts of each block, by
/// chip). An item gives `records` records: 1, or, from one chip, one per block.
void join_outputs(const LoadedProgram& loaded,
                  std::span<const std::vector<const std::uint64_t*>> chips, std::uint64_t records,
                  std::uint64_t count, std::uint64_t* to);

}  // namespace gdr
