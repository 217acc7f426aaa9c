// The code of a section's kernels, with the transfers of their inputs and outputs.
#pragma once

#include <atomic>
#include <compare>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "emulator/engine/gpu/gpu.hpp"
#include "emulator/engine/native/codegen/code.hpp"
#include "emulator/engine/native/program/section_contents.hpp"
#include "emulator/engine/native/words/word_conversion.hpp"

namespace gdr::native {

class GpuKernel;

/// An input that the previous section sets to a constant: a vector of it.
struct ConstantInput {
  std::uint32_t instance = 0, offset = 0;  ///< place in the work items, as in RowTransfer
  std::vector<std::byte> lanes;
};

/// Code for a single work item, generated on first use.
struct SingleItemCode {
  std::once_flag made;
  std::atomic<bool> ready = false;
  CompiledKernel code;
};
static_assert(max_copies == 2);

/// Code of a section's kernels, specialised for a set of uniform words that are zero.
struct CompiledKernels {
  struct Entry {
    KernelCode code;
    std::vector<RowTransfer> in, out;        ///< transfers of all instances, in their order
    std::vector<RowTransfer> in_fused;       ///< inputs except constants of the previous section
    std::vector<ConstantInput> given;        ///< constants of the previous section
    bool constants_fit = true;               ///< whether floats represent these constants
    CompiledKernel machine;                  ///< machine code; none on the portable path
    InterpretedKernel portable;              ///< interpreter; the portable path only
    std::unique_ptr<SingleItemCode> narrow;  ///< code of one item; none on the portable path
    std::shared_ptr<const GpuKernel> gpu;    ///< program of a GPU; others have none
  };
  /// Variants of the code for a host: as in Target.
  struct Variant {
    bool infinities = false, source_vectors = false;
    friend auto operator<=>(const Variant&, const Variant&) = default;
  };
  /// Zero words, requested precision, the GPU that it is for (null: for the host).
  using Key = std::tuple<std::uint64_t, Precision, const Gpu*, Variant>;
  Key key;
  Target target;
  std::vector<Entry> kernels;  ///< code of each kernel of the section
};

/// Code of a kernel for a target with the transfers of its instances, without any executable form.
CompiledKernels::Entry make_entry(const SectionContents& section, const Kernel& kernel,
                                  const PreviousConstants& previous, std::uint64_t zero_words,
                                  Target target);

/// What code generation needs of a kernel.
inline CodeContext code_context(const SectionContents& section, const CompiledKernels::Entry& entry,
                                Target target) {
  return {entry.code, target, section.words.source, section.words.uniform, section.words.lookups};
}

}  // namespace gdr::native
