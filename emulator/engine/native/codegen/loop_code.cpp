#include "emulator/engine/native/codegen/loop_code.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "emulator/engine/jit/order.hpp"
#include "emulator/engine/jit/resident_constants.hpp"
#include "emulator/engine/native/codegen/to_ir.hpp"

namespace gdr::native {
namespace {

/// Whether an instruction loads or stores a spilled value.
bool moves_spill(const jit::Instruction& i) {
  const auto is_spilled = [](const jit::Location& l) {
    return l.kind == jit::Location::Kind::Memory && l.place.base == base_spills;
  };
  return is_spilled(i.a) || is_spilled(i.to);
}

bool spills(const LoopCode& loop) { return std::ranges::any_of(loop.body.body, moves_spill); }

}  // namespace

jit::RegisterLimits register_limits(jit::VectorTarget target, const KernelCode& kernel) {
  const unsigned kept = kernel.reads_tables && target.gathers ? 1 : 0;
  if (target.mask_registers) return {target.registers, 8 - kept};
  return {target.registers - kept, 8};
}

/// Two work items share the loads of sources and hide each other's latencies. With 32 registers
/// they need to have all their values there, but for some where sources are vectors, whose loads
/// take longer; with 16 they spill in any case, and two are faster for nearly all kernels of the
/// library (measured). Gathers overlap without a second work item.
unsigned fastest_copies(const CodeContext& c, jit::ConstantPool& pool) {
  if (!vector_target(c.target).has_many_registers()) return c.kernel.reads_tables ? 1 : max_copies;
  const KernelCode& k = c.kernel;
  const bool loop = k.loops && k.has_effects();
  const unsigned all = ~0U;
  const unsigned pressure = loop ? to_ir(c, pool, k.unguarded.usable ? k.unguarded.loop : k.loop, 1,
                                         CarriedStores::Loop, all)
                                       .pressure
                                 : to_ir(c, pool, k.once, 1, CarriedStores::Next).pressure;
  const unsigned max_pressure = c.target.source_vectors ? 16 : 12;
  return pressure <= max_pressure ? max_copies : 1;
}

/// Instructions without moves between registers where hosts execute these by renaming. Hosts
/// without operands in memory do not; there a load of a vector counts less, because no vector unit
/// takes part in it, and a spilled value more, because what needs it waits for a store and a load.
double LoopScheduler::cost_of(const std::vector<jit::Instruction>& code) const {
  constexpr double load_apart = 0.75, spill_apart = 3;
  const bool loads_apart = target_.memory == jit::MemoryOperands::None;
  double cost = 0;
  for (const jit::Instruction& i : code) {
    const bool in_memory = i.a.kind == jit::Location::Kind::Memory;
    if (loads_apart && moves_spill(i)) cost += spill_apart;
    if (i.op != jit::Op::Load || (loads_apart && (!in_memory || i.a.place.broadcast)))
      cost += 1;
    else if (in_memory)
      cost += loads_apart ? load_apart : 1;
  }
  return cost;
}

/// With as many constants in registers as give the fewest instructions.
jit::AllocatedBlock LoopScheduler::allocated_loop(const jit::Block& block,
                                                  jit::SpillArea& spills) const {
  if (target_.memory != jit::MemoryOperands::None) return allocated(block, spills);
  constexpr std::size_t registers_for_work = 6, trials = 8;
  const std::vector<jit::ValueId> constants =
      jit::constants_by_uses(block, [](const jit::Place& p) {
        return p.base == base_constants || p.base == base_uniforms || p.base == base_items;
      });
  const std::size_t carried = block.carried.size() + registers_for_work;
  const std::size_t most =
      carried < limits_.vectors ? std::min(constants.size(), limits_.vectors - carried) : 0;
  const std::size_t step = most / trials + 1;
  jit::AllocatedBlock best;
  double lowest = std::numeric_limits<double>::infinity();
  const jit::SpillArea before = spills;
  for (std::size_t count = 0; count <= most; count += step) {
    jit::SpillArea used = before;
    jit::AllocatedBlock made = allocated(jit::with_resident(block, constants, count), used);
    const double cost = cost_of(made.body);
    if (cost >= lowest) continue;
    lowest = cost;
    best = std::move(made);
    spills = used;
  }
  return best;
}

/// With 32 registers most loops can be pipelined without many more instructions. An iteration that
/// is too long for two stages is with the next one an iteration that is not.
LoopCode LoopScheduler::loop(const jit::Block& block) const {
  LoopCode plain = plain_loop(block);
  if (!target_.has_many_registers()) return plain;
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
  const double limit = target_.has_many_registers() ? 1.05 : 1.13;
  LoopCode few = loop_in_order(block);
  LoopCode overlapped = loop_in_latency_order(block, window);
  if (target_.memory == jit::MemoryOperands::None && spills(overlapped)) {
    avoid_spills(block, limit, few, overlapped);
    if (spills(overlapped) && !spills(few)) return few;
  }
  const bool spills_too_much = cost_of(overlapped.body.body) > limit * cost_of(few.body.body);
  return spills_too_much ? few : overlapped;
}

/// Hosts without operands in memory have no cheap spills, but another order may need none: that of
/// `block` for latencies in a wider or narrower window, or one term of sums after the other.
/// `overlapped` becomes the first such code that costs at most `limit` times as much as few
/// registers do, else the cheapest.
void LoopScheduler::avoid_spills(const jit::Block& block, double limit, LoopCode& few,
                                 LoopCode& overlapped) const {
  jit::Block by_terms = block;
  jit::order_term_by_term(by_terms);
  LoopCode few_by_terms = loop_in_order(by_terms);
  if (cost_of(few_by_terms.body.body) < cost_of(few.body.body)) few = std::move(few_by_terms);
  const double max_cost = limit * cost_of(few.body.body);
  const jit::Block* const orders[] = {&block, &by_terms};
  for (const jit::Block* order : orders)
    for (const std::size_t window : {24, 32, 48, 64, 96, 16, 12}) {
      LoopCode made = loop_in_latency_order(*order, window);
      const double cost = cost_of(made.body.body);
      const bool is_good = !spills(made) && cost <= max_cost;
      if (is_good || cost < cost_of(overlapped.body.body)) overlapped = std::move(made);
      if (is_good) return;
    }
}

LoopCode LoopScheduler::loop_in_latency_order(const jit::Block& block, std::size_t window) const {
  jit::Block ordered = block;
  jit::order_for_latency(ordered, window);
  return loop_in_order(ordered);
}

LoopCode LoopScheduler::loop_in_order(const jit::Block& block) const {
  jit::SpillArea spills{base_spills, 0, 0};
  LoopCode made;
  made.body = allocated_loop(block, spills);
  made.spill_slots = spills.slots;
  return made;
}

/// `block`: a number of iterations of the loop whose plain code is `plain`. The limits were
/// measured on the kernels of the library.
std::optional<LoopCode> LoopScheduler::pipelined_loop(const jit::Block& block, unsigned iterations,
                                                      const LoopCode& plain) const {
  const double max_instructions = target_.memory == jit::MemoryOperands::None ? 1.1 : 1.2;
  constexpr std::size_t registers_for_work = 3;
  std::optional<LoopCode> best;
  double lowest = max_instructions * iterations * cost_of(plain.body.body);
  for (const jit::PipelineSchedule& schedule : jit::pipeline_schedules(block)) {
    // What iterations leave each other is in registers, and the work itself needs some.
    if (block.carried.size() + schedule.crossing.size() + registers_for_work > limits_.vectors)
      continue;
    LoopCode made = scheduled_loop(schedule, iterations);
    const double cost = cost_of(made.body.body);
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
                allocated_loop(parts.loop, spills),
                allocated(parts.last, spills),
                true,
                0,
                iterations};
  made.spill_slots = static_cast<std::uint32_t>(crossing) + spills.slots;
  return made;
}

}  // namespace gdr::native
