// Clocks of a run on one chip, from its loop plan and what its sections cost.
#pragma once

#include <cstdint>

#include "emulator/board/program_timing.hpp"
#include "emulator/board/time_model.hpp"
#include "emulator/port/loop_plan.hpp"

namespace gdr {

/// Clocks of a run on one chip, which the longest slice determines. `flags` are RunFlags.
ChipClocks loop_clocks(const LoopPlan& plan, const ProgramTiming& program, const Geometry& geometry,
                       std::uint32_t flags, const BoardRates& rates = {}) noexcept;

}  // namespace gdr
