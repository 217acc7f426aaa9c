#include "emulator/engine/native/program/float_section.hpp"

#include <utility>
#include <vector>

#include "emulator/engine/native/program/kernel_code.hpp"
#include "emulator/engine/native/translate/bits_of_numbers.hpp"
#include "emulator/engine/native/translate/known_inputs.hpp"
#include "emulator/engine/native/translate/split_longs.hpp"

namespace gdr::native {
namespace {

/// Whether a mask depends on the difference of two computed numbers.
bool is_comparison_of_results(const Graph& g, const Node& node) {
  if (node.op != NodeOp::Negative && node.op != NodeOp::IsZero) return false;
  const Node& difference = g[node.a];
  return difference.op == NodeOp::Sub && !is_leaf(g[difference.a].op) &&
         !is_leaf(g[difference.b].op);
}

/// What code needs beyond its kernel: words that only Kernel::known has, and to detect overflows.
void note_code(const KernelCode& code, SectionContents& contents, FloatSection& made) {
  for (const Segment* segment : segments_of(code)) {
    made.compares_results = made.compares_results || segment->detects_overflows;
    for (const Node& node : segment->graph.nodes())
      if (node.op == NodeOp::Uniform) contents.words.uniform.add(LeafKey::unpack(node.bits));
  }
}

FloatSection check_floats(SectionContents& contents, Target target) {
  FloatSection made;
  for (const Kernel& kernel : contents.kernels)
    for (const Node& node : kernel.graph.nodes())
      made.compares_results = made.compares_results || is_comparison_of_results(kernel.graph, node);
  try {
    for (const Kernel& kernel : contents.kernels)
      note_code(make_kernel_code(with_zero_words(kernel, 0, contents.words.uniform), contents.loops,
                                 target),
                contents, made);
  } catch (const Unsupported& e) {
    made.is_supported = false;
    // Others than the loop run once for a target.
    if (contents.loops) made.remark = std::string("doubles instead of floats: ") + e.what();
  }
  return made;
}

}  // namespace

FloatSection change_to_floats(SectionContents& contents, Target target, const SectionModel& model,
                              SectionModel* start) {
  std::vector<Kernel>& kernels = contents.kernels;
  for (Kernel& kernel : kernels) kernel = with_bits_of_numbers(kernel);
  std::vector<Kernel> without_known = kernels;
  if (contents.loops && start != nullptr)
    for (Kernel& kernel : kernels) add_known_inputs(kernel, *start, model);
  FloatSection made = check_floats(contents, target);
  if (!made.is_supported)
    kernels = std::move(without_known);
  else if (target.mode == FloatMode::Mixed)
    for (Kernel& kernel : kernels) kernel = with_split_distances(kernel);
  return made;
}

}  // namespace gdr::native
