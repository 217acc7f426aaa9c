#include "emulator/engine/vector/doubles/codegen/loop_nest.hpp"

#include <cstddef>

#include "emulator/engine/jit/order.hpp"

namespace gdr::codegen {

jit::RegisterLimits register_limits(jit::VectorTarget target) {
  return target.mask_registers ? jit::RegisterLimits{target.registers, 8 - failure_sets}
                               : jit::RegisterLimits{target.registers - failure_sets, 8};
}

namespace {

/// Instructions per vector, including spills.
std::size_t instructions(const Trace& trace, jit::VectorTarget target, Arrangement a) {
  jit::ConstantPool pool(target, base_constants);
  const LoopNestCode code = to_ir(trace, target, a, pool);
  jit::SpillArea spills{base_scratch, 0, 0};
  std::size_t count = 0;
  for (const jit::Block* block : {&code.lanes, &code.element, &code.left})
    count += jit::allocate(*block, target, register_limits(target), spills).body.size();
  return count / a.copies;
}

/// Interleaved vectors. AVX-512: one is limited by latency, and the code for four exceeds the cache
/// of decoded instructions (gravity: 155, 99 and 105 clocks for eight interactions). AVX2 has half
/// the registers, so that four cause spills (gravity_jerk: 0.87 of the speed of two,
/// gravity_jerk_long 0.54), but two are limited by latency in long chains (morse and buckingham:
/// 0.73 of the speed of four, with a critical path of 1.4 clocks per operation; at 0.9 it is 0.8,
/// at 0.7 and below two are faster). For rows of fewer lanes, a divisor of their vectors.
unsigned copies(const Trace& trace, jit::VectorTarget target, std::uint32_t vectors) {
  unsigned wanted = 2;
  if (!target.mask_registers) {
    jit::ConstantPool pool(target, base_constants);
    const jit::Block one = to_ir(trace, target, {1, 1}, pool).element;
    const auto path = static_cast<std::size_t>(jit::longest_way(one));
    if (path * 10 > one.code.size() * 8) wanted = 4;
  }
  if (vectors % wanted == 0) return wanted;
  return vectors % 3 == 0 ? 3 : vectors % 2 == 0 ? 2 : 1;
}

}  // namespace

/// The largest window that causes few spills: gravity with AVX-512 is 7 % slower with a window of
/// 64 than with 256, gravity_jerk 40 % faster with 8.
Arrangement fastest_arrangement(const Trace& trace, jit::VectorTarget target,
                                std::uint32_t vectors) {
  Arrangement a{copies(trace, target, vectors), 1};
  const std::size_t least = instructions(trace, target, a);
  for (a.window = 256; a.window > 4; a.window /= 2) {
    if (instructions(trace, target, a) * 100 <= least * 106) break;
  }
  return a;
}

}  // namespace gdr::codegen
