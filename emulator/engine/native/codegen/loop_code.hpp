// The instructions of a loop: in which order, and whether iterations overlap.
#pragma once

#include <cstdint>
#include <optional>

#include "emulator/engine/jit/allocate.hpp"
#include "emulator/engine/jit/pipeline.hpp"
#include "emulator/engine/native/codegen/code.hpp"

namespace gdr::native {

/// Registers that a kernel's code may use. The last mask register, on AVX2 the last vector, is that
/// of gathers.
jit::RegisterLimits register_limits(jit::VectorTarget target, const KernelCode& kernel);

/// The fastest number of work items per call, at most max_copies.
unsigned fastest_copies(const CodeContext& context, jit::ConstantPool& pool);

/// A loop's iterations: all alike, or with straight code before and behind them.
struct LoopCode {
  jit::AllocatedBlock first, body, last;
  bool pipelined = false;
  std::uint32_t spill_slots = 0;
  unsigned iterations = 1;  ///< iterations of the loop in one of `body`
};

/// Chooses the code of a loop by the number of its instructions.
class LoopScheduler {
 public:
  LoopScheduler(const CodeContext& context, jit::VectorTarget target)
      : c_(context), target_(target), limits_(register_limits(target, context.kernel)) {}

  /// The fastest code for the iterations of a block.
  LoopCode loop(const jit::Block& block) const;
  /// Code whose iterations do not overlap.
  LoopCode plain_loop(const jit::Block& block) const;

 private:
  std::optional<LoopCode> pipelined_loop(const jit::Block& block, unsigned iterations,
                                         const LoopCode& plain) const;
  LoopCode scheduled_loop(const jit::PipelineSchedule& schedule, unsigned iterations) const;
  jit::Place moved(jit::Place p, int iterations) const;
  jit::AllocatedBlock allocated(const jit::Block& block, jit::SpillArea& spills) const {
    return jit::allocate(block, target_, limits_, spills);
  }
  jit::AllocatedBlock allocated_loop(const jit::Block& block, jit::SpillArea& spills) const;
  void avoid_spills(const jit::Block& block, double limit, LoopCode& few,
                    LoopCode& overlapped) const;
  LoopCode loop_in_order(const jit::Block& block) const;
  LoopCode loop_in_latency_order(const jit::Block& block, std::size_t window) const;
  double cost_of(const std::vector<jit::Instruction>& code) const;

  const CodeContext& c_;
  jit::VectorTarget target_;
  jit::RegisterLimits limits_;
};

}  // namespace gdr::native
