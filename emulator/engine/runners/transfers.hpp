// Transfers over the ports of one block or chip: targets, j-items, results and output items.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/api/pass.hpp"

namespace gdr {

/// Converts those targets of `records` that are placed in this block.
void load_targets(const LoadedProgram& loaded, BlockState& block, const TargetSlots& slots,
                  const std::uint64_t* records) noexcept;

/// Converts the results of those slots that are placed in this block, without the network (pass).
void store_results(const LoadedProgram& loaded, const BlockState& block, const TargetSlots& slots,
                   std::uint64_t* records) noexcept;

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

/// Location of j-item records, and the part of each that a block reads.
struct SourceRecords {
  std::uint64_t address = 0;  ///< memory address of the run's first item
  std::uint64_t part = 0;
};

/// Converts the j-items of `groups` to consecutive shorts, padded to whole groups.
void load_sources(const LoadedProgram& loaded, const LoopPlan& plan, const BoardMemory& memory,
                  const SourceRecords& from, GroupRange groups, std::uint64_t* shorts,
                  std::vector<std::uint64_t>& scratch);

/// Destination of output items [first, first + count) of the run: memory from word `address` on.
struct OutputItems {
  std::uint64_t address = 0, first = 0, count = 0;
};

/// Converts output items of one block without reduction, one record per item.
void store_outputs(const LoadedProgram& loaded, const std::uint64_t* shorts,
                   const OutputItems& items, BoardMemory& memory,
                   std::vector<std::uint64_t>& scratch);

/// Reduces the output items of all blocks for the same `count` j-items (shorts of each block, by
/// chip). An item gives `records` records: 1, or, from one chip, one per block.
void join_outputs(const LoadedProgram& loaded,
                  std::span<const std::vector<const std::uint64_t*>> chips, std::uint64_t records,
                  std::uint64_t count, std::uint64_t* to);

}  // namespace gdr
