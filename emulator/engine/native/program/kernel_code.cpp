#include "emulator/engine/native/program/kernel_code.hpp"

#include <algorithm>

#include "emulator/engine/native/translate/hoisted.hpp"
#include "emulator/engine/native/translate/lower.hpp"
#include "emulator/engine/native/translate/short_rounding.hpp"
#include "emulator/engine/native/translate/square_roots.hpp"

namespace gdr::native {
namespace {

ItemLayout layout_of(const Kernel& kernel, Target target) {
  return {target.lanes() * target.lane_bytes(),
          static_cast<std::uint32_t>(kernel.inputs.size()),
          static_cast<std::uint32_t>(kernel.carried.size()),
          static_cast<std::uint32_t>(kernel.outputs.size()),
          0,
          static_cast<std::uint32_t>(kernel.lists.size())};
}

/// Sets the places of inputs, of which the carried ones are in a set.
void place_inputs(const Kernel& kernel, KernelCode& code) {
  for (std::uint32_t n = 0; n < kernel.inputs.size(); ++n)
    code.input_offset.push_back(code.layout.input(n));
  for (std::uint32_t c = 0; c < kernel.carried.size(); ++c) {
    code.carried_slot.push_back(kernel.carried[c].slot);
    code.input_offset[kernel.carried[c].slot] = code.layout.set(0) + c * code.layout.vector_bytes;
  }
}

/// Moves values of functions out of the loop, and adds their slots to those that are no inputs.
void hoist_values(KernelCode& code, std::vector<std::uint32_t>& changed_slots) {
  const std::uint32_t total = code.layout.totals, input = code.layout.inputs + total;
  const std::uint32_t count = hoist(code.first, code.loop, code.carried_slot, total, input);
  code.layout.totals += count;
  for (std::uint32_t n = 0; n < count; ++n) changed_slots.push_back(input + n);
}

void lower_loop(const LoopForm& form, Target target, const KnownInputs& known, KernelCode& code) {
  code.first = lowered(form.first, target, known);
  code.loop = lowered(form.loop, target, known);
  code.last = lowered(form.last, target, known);
  code.can_share_iterations =
      target.gpu && code.layout.lists == 0 && only_sums(code.loop, code.carried_slot);
  std::vector<std::uint32_t> changed_slots = code.carried_slot;
  if (target.precision == Precision::Float) {
    const std::uint32_t terms = target.mode == FloatMode::Mixed ? accurate_block : coarse_block;
    code.sums = make_blocked_sums(code.loop, code.carried_slot, code.layout.inputs, terms);
    code.layout.totals = code.sums.slots();
    if (!target.gpu) hoist_values(code, changed_slots);
  }
  if (target.isa != Isa::Portable || target.gpu)
    code.unguarded = make_unguarded_loop(code.loop, changed_slots);
}

}  // namespace

Kernel with_zero_words(const Kernel& kernel, std::uint64_t zero_words, const WordTable& uniforms) {
  return rewritten(kernel, [&](Graph& g, Ref r, const NodeMap&) {
    const Node& node = kernel.graph[r];
    if (node.op != NodeOp::Uniform) return no_ref;
    const std::uint32_t number = uniforms.number(LeafKey::unpack(node.bits));
    const bool zero = number < 64 && ((zero_words >> number) & 1) != 0;
    return zero ? g.constant(node.kind, 0) : no_ref;
  });
}

KernelCode make_kernel_code(const Kernel& kernel, bool loops, Target target) {
  const Kernel rounded = round_loop_sums(kernel);
  const LoopForm form = make_loop_form(rounded, loops);
  KernelCode code;
  code.loops = loops;
  code.reads_tables = std::ranges::any_of(
      rounded.graph.nodes(), [](const Node& node) { return node.op == NodeOp::Lookup; });
  code.layout = layout_of(kernel, target);
  place_inputs(kernel, code);
  code.once = lowered(form.once, target, rounded.known);
  if (target.square_roots && !square_roots_pay(code.once, target.isa)) {
    target.square_roots = false;
    code.once = lowered(form.once, target);
  }
  if (loops) lower_loop(form, target, rounded.known, code);
  return code;
}

std::array<const Segment*, 4> segments_of(const KernelCode& code) {
  return {&code.once, &code.first, &code.loop, &code.last};
}

std::vector<bool> used_inputs(const Kernel& kernel, const KernelCode& code) {
  std::vector<bool> used(kernel.inputs.size(), false);
  for (const KernelCarried& c : kernel.carried) used[c.slot] = true;
  for (const Segment* segment : segments_of(code)) {
    const std::vector<bool> needed = needed_nodes(*segment);
    for (std::uint32_t n = 0; n < needed.size(); ++n) {
      const Node& node = segment->graph[ref_to(n)];
      const std::uint32_t slot = LeafKey::unpack(node.bits).place;
      if (needed[n] && node.op == NodeOp::Input && slot < used.size()) used[slot] = true;
    }
  }
  return used;
}

}  // namespace gdr::native
