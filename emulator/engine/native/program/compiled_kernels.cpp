#include "emulator/engine/native/program/compiled_kernels.hpp"

#include "emulator/engine/native/program/kernel_code.hpp"
#include "emulator/engine/native/translate/float_range.hpp"
#include "emulator/host/float_mode.hpp"

namespace gdr::native {
namespace {

/// Adds a constant of the previous section as lanes.
void add_constant(const RowTransfer& to, const ConstantRoot& word, Target target,
                  CompiledKernels::Entry& entry) {
  const std::size_t lane = target.lane_bytes();
  ConstantInput input{to.instance, to.offset, std::vector<std::byte>(target.lanes() * lane)};
  const MachineFloatMode mode;
  const RangeErrorMonitor range_errors(true);
  bool fits = true;
  for (std::size_t k = 0; k < target.lanes(); ++k) {
    fits = fits && words_to_lanes(to.key.type, target.precision, {&word.upper, &word.lower, 0}, 1,
                                  input.lanes.data() + k * lane, lane);
  }
  // Not representable in floats: the run is repeated in doubles.
  const bool lost = target.precision == Precision::Float && range_errors.detected();
  entry.constants_fit = entry.constants_fit && fits && !lost;
  entry.given.push_back(input);
}

void add_transfers(const Kernel& kernel, const CellMap& map, CompiledKernels::Entry& entry) {
  const std::vector<bool> used = used_inputs(kernel, entry.code);
  for (std::uint32_t i = 0; i < kernel.instances.size(); ++i) {
    const KernelInstance& instance = kernel.instances[i];
    for (std::uint32_t n = 0; n < instance.inputs.size(); ++n) {
      if (!used[n]) continue;
      const LeafKey key = instance.inputs[n];
      entry.in.push_back({key, cell_row(map, key), i, entry.code.input_offset[n]});
    }
    for (std::uint32_t n = 0; n < instance.outputs.size(); ++n) {
      const LeafKey key = instance.outputs[n];
      entry.out.push_back({key, cell_row(map, key), i, entry.code.layout.output(n)});
    }
  }
}

}  // namespace

CompiledKernels::Entry make_entry(const SectionContents& section, const Kernel& kernel,
                                  const PreviousConstants& previous, std::uint64_t zero_words,
                                  Target target) {
  const SectionWords& words = section.words;
  CompiledKernels::Entry entry;
  entry.code =
      make_kernel_code(with_zero_words(kernel, zero_words & words.zero_candidates, words.uniform),
                       section.loops, target);
  add_transfers(kernel, section.map, entry);
  for (const RowTransfer& t : entry.in) {
    if (previous.contains(t.key)) {
      add_constant(t, previous.word(t.key), target, entry);
    } else {
      entry.in_fused.push_back(t);
    }
  }
  return entry;
}

}  // namespace gdr::native
