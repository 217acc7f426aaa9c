// Rows of lanes of one block: where operands, results and masks are. Inline, for planned_run.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "emulator/chip/state.hpp"
#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/vector/rows/plan.hpp"

namespace gdr {

/// The rows of a block while a section runs on it, with those of intermediate results. One at a
/// time in a thread.
class BlockRows {
 public:
  BlockRows(BlockState& block, const PlannedProgram& program, const BlockRun& run)
      : block_(block), pes_(block.pes), source_(run.source_base), output_(run.output_base) {
    thread_local LaneMemory memory;
    const std::size_t lanes = (ScratchRows::count + 2) * pes_;
    if (memory.size() < lanes) memory.resize(lanes);
    std::uint64_t* const scratch = memory.data();
    std::uint64_t* const number = scratch + ScratchRows::count * pes_;
    std::fill_n(number, pes_, 0);
    std::fill_n(number + pes_, pes_, block.number);
    bases_ = {block.registers.data(),
              block.local.data(),
              block.t.data(),
              const_cast<std::uint64_t*>(program.constants.data()),
              number,
              scratch};
  }

  /// The next j-items and outputs.
  void advance(const BlockRun& run) {
    source_ += run.source_step;
    output_ += run.output_step;
  }

  std::uint64_t* row(RowBase base, std::size_t number) const {
    return bases_[static_cast<std::size_t>(base)] + number * pes_;
  }

  /// Operands and result of a slot.
  Strip strip(const Instruction& i, const ArithmeticPlan& plan) const {
    std::uint64_t* out = row(plan.out.base, plan.out.row);
    return {i.vlen, pes_, input(plan.a), input(plan.b), {out, out + pes_, plan.out.step * pes_}};
  }
  const std::uint64_t* result_row(const ArithmeticPlan& plan, unsigned element) const {
    return row(plan.out.base, plan.out.row + std::size_t{element} * plan.out.step);
  }

  std::uint64_t* mask_row(unsigned mask, unsigned element) const {
    return block_.masks.data() + (std::size_t{mask} * max_elements + element) * pes_;
  }
  std::uint64_t* t_row(TTarget t, unsigned element) const {
    return row(RowBase::T, element * 2 + (t == TTarget::Lower ? 1U : 0U));
  }
  std::uint64_t* location_row(const Operand& x, unsigned element) const {
    switch (x.space) {
      case Space::Register:
        return row(RowBase::Registers, x.at(element));
      case Space::T:
        return row(RowBase::T, element * 2 + x.address);
      default:
        return row(RowBase::Local, x.at(element));
    }
  }
  /// Addresses in local memory of a T-indirect destination, by PE.
  std::uint64_t* address_row(unsigned target, unsigned element) const {
    return row(RowBase::Scratch, ScratchRows::addresses + target * max_elements + element);
  }
  /// Address in the broadcast memory.
  std::uint32_t bm_address(const Operand& x, unsigned element) const {
    const std::uint32_t base = x.space == Space::BmSource   ? source_
                               : x.space == Space::BmOutput ? output_
                                                            : 0;
    return base + x.at(element);
  }

 private:
  InputRows input(const RowRef& ref) const {
    const std::uint64_t* hi = row(ref.base, ref.row);
    return {hi, hi + pes_, ref.step * pes_};
  }

  BlockState& block_;
  std::size_t pes_;
  std::uint32_t source_, output_;  ///< addresses of the current j-item and its output, shorts
  std::array<std::uint64_t*, 6> bases_{};  ///< first rows by RowBase
};

}  // namespace gdr
