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

}  // namespace gdr
