#include "emulator/engine/native/codegen/x86/loop_code.hpp"

#include <algorithm>
#include <utility>

#include "emulator/engine/jit/order.hpp"

namespace gdr::native {
namespace {

/// Instructions without moves between registers, which hosts execute by renaming.
std::size_t cost_of(const std::vector<jit::Instruction>& code) {
  return static_cast<std::size_t>(std::ranges::count_if(code, [](const jit::Instruction& i) {
    return i.op != jit::Op::Load || i.a.kind == jit::Location::Kind::Memory;
  }));
}

}  // namespace

jit::RegisterLimits register_limits(jit::VectorTarget target, const KernelCode& kernel) {
  const unsigned kept = kernel.reads_tables ? 1 : 0;
  if (target.avx512) return {32, 8 - kept};
  return {16 - kept, 8};
}

/// With 32 registers most loops can be pipelined without many more instructions. An iteration that
/// is too long for two stages is with the next one an iteration that is not.
LoopCode LoopScheduler::loop(const jit::Block& block) const {
  LoopCode plain = plain_loop(block);
  if (!target_.avx512) return plain;
  if (std::optional<LoopCode> made = pipelined_loop(block, 1, plain)) return *std::move(made);
  const jit::Block two = jit::two_iterations(block, [&](jit::Place p) { return moved(p, 1); });
  if (std::optional<LoopCode> made = pipelined_loop(two, 2, plain)) return *std::move(made);
  return plain;
}

/// In an order for few registers, or for latencies: hosts look some hundred instructions ahead,
/// and the nearer independent operations are, the better they overlap. That is worth some
/// spilling, less with 32 registers, where spilled values are many. The limits and the window
/// were measured on the kernels of the library.
LoopCode LoopScheduler::plain_loop(const jit::Block& block) const {
  constexpr std::size_t window = 24;
  const double limit = target_.avx512 ? 1.05 : 1.13;
  jit::Block ordered = block;
  jit::order_for_latency(ordered, window);
  jit::SpillArea spills{base_spills, 0, 0}, few_spills = spills;
  jit::AllocatedBlock overlapped = allocated(ordered, spills);
  jit::AllocatedBlock plain = allocated(block, few_spills);
  const auto cost = static_cast<double>(cost_of(overlapped.body));
  const bool spills_too_much = cost > limit * static_cast<double>(cost_of(plain.body));
  LoopCode made;
  made.body = std::move(spills_too_much ? plain : overlapped);
  made.spill_slots = (spills_too_much ? few_spills : spills).slots;
  return made;
}

/// `block`: a number of iterations of the loop whose plain code is `plain`. The limits were
/// measured on the kernels of the library.
std::optional<LoopCode> LoopScheduler::pipelined_loop(const jit::Block& block, unsigned iterations,
                                                      const LoopCode& plain) const {
  constexpr double max_instructions = 1.2;
  constexpr std::size_t registers_for_work = 3;
  std::optional<LoopCode> best;
  double lowest = max_instructions * iterations * static_cast<double>(cost_of(plain.body.body));
  for (const jit::PipelineSchedule& schedule : jit::pipeline_schedules(block)) {
    // What iterations leave each other is in registers, and the work itself needs some.
    if (block.carried.size() + schedule.crossing.size() + registers_for_work > limits_.vectors)
      continue;
    LoopCode made = scheduled_loop(schedule, iterations);
    const auto cost = static_cast<double>(cost_of(made.body.body));
    if (cost >= lowest) continue;
    best = std::move(made);
    lowest = cost;
  }
  return best;
}

/// The place that some iterations later is at p.
jit::Place LoopScheduler::moved(jit::Place p, int iterations) const {
  if (p.base == base_source) p.offset += iterations * static_cast<std::int32_t>(c_.group_bytes());
  return p;
}

LoopCode LoopScheduler::scheduled_loop(const jit::PipelineSchedule& schedule,
                                       unsigned iterations) const {
  const auto vector_bytes = static_cast<std::int32_t>(c_.kernel.layout.vector_bytes);
  const auto earlier = [&](jit::Place p) { return moved(p, -static_cast<int>(iterations)); };
  const auto place = [&](std::size_t k) {
    return jit::Place{base_spills, false, static_cast<std::int32_t>(k) * vector_bytes};
  };
  const jit::PipelinedLoop parts = jit::pipelined(schedule, earlier, place);
  const std::size_t crossing = schedule.crossing.size();
  jit::SpillArea spills{base_spills, place(crossing).offset, 0};
  LoopCode made{allocated(parts.first, spills),
                allocated(parts.loop, spills),
                allocated(parts.last, spills),
                true,
                0,
                iterations};
  made.spill_slots = static_cast<std::uint32_t>(crossing) + spills.slots;
  return made;
}

}  // namespace gdr::native
