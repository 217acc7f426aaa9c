// Clocks of a run on one chip, from its loop plan and what its sections cost.
#pragma once

#include <cstdint>

#include "emulator/board/time_model.hpp"
#include "emulator/port/loop_plan.hpp"

namespace gdr {

/// What the sections of a run cost, and the words that a group of j-items brings and leaves.
struct LoopCost {
  std::uint64_t start = 0, body = 0, end = 0;  ///< clocks; 0 for a section that does not run
  std::uint64_t words_in = 0, words_out = 0;   ///< of a group
  bool to_memory = true;                       ///< what it leaves, or else to the host
};
/// Clocks of a run on one chip: the chip goes at the pace of its longest slice.
ChipClocks loop_clocks(const LoopPlan& plan, const LoopCost& cost, double clock_hz,
                       const BoardRates& rates = {}) noexcept;

/// The same of a loaded program.
ChipClocks plan_clocks(const LoopPlan& plan, const LoadedProgram& loaded, const Geometry& geometry,
                       std::uint32_t flags) noexcept;

}  // namespace gdr
