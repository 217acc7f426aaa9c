#include "emulator/engine/vector/doubles/codegen/compiled_doubles.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "emulator/engine/lanes/doubles/op.hpp"
#include "emulator/engine/vector/doubles/codegen/trace.hpp"

namespace gdr::codegen {
namespace {

/// Replaces lists of operations by compiled ones.
class Fuser {
 public:
  /// `traced` is the same section translated with tracing kernels.
  Fuser(DoublesSection& section, const DoublesSection& traced, Isa isa)
      : section_(section),
        traced_(traced),
        isa_(isa),
        scratch_((section.frame_bytes + 63) / 64 * 64) {}

  /// Operations that store to the broadcast memory remain between compiled ones.
  void replace(OpList& list, const std::vector<DoublesOp>& steps) {
    std::vector<DoublesOp>& ops = list.ops;
    std::vector<DoublesOp> out;
    for (std::size_t n = 0; n < ops.size();) {
      std::size_t end = n;
      while (end + 1 < ops.size() && !touches_memory(ops[end].kernel)) ++end;
      const std::span<const DoublesOp> part(steps.data() + n, end - n);
      const bool last = end + 1 == ops.size();  // otherwise later operations read rows
      if (part.size() < 2 || !append_fused(out, part, last ? &list.live : nullptr))
        out.insert(out.end(), &ops[n], &ops[end]);
      out.push_back(ops[end]);
      n = end + 1;
    }
    ops = std::move(out);
  }

 private:
  bool append_fused(std::vector<DoublesOp>& out, std::span<const DoublesOp> all,
                    const std::vector<std::uint32_t>* live) {
    std::vector<DoublesOp> steps;
    std::ranges::copy_if(all, std::back_inserter(steps),
                         [](const DoublesOp& op) { return op.kernel != pause; });
    const std::optional<Trace> traced = trace(steps, traced_, live);
    if (!traced) return false;
    const CompiledOperation fused = assemble(*traced, isa_, section_.row_lanes, scratch_);
    if (fused.kernel == nullptr) return false;
    out.push_back(plain_operation(fused.kernel));
    section_.code.push_back(fused.owner);
    section_.frame_bytes = std::max(section_.frame_bytes, scratch_ + fused.scratch_bytes);
    return true;
  }

  DoublesSection& section_;
  const DoublesSection& traced_;
  Isa isa_;
  std::uint32_t scratch_;
};

}  // namespace

struct CompiledDoubles::FirstRunCompilation {
  Translate translate;
  Isa isa = Isa::Avx512;
  std::uint32_t batch = 0;
  std::once_flag made;
  DoublesSection section;
};

CompiledDoubles::CompiledDoubles(Translate translate, const DoublesKernels& kernels,
                                 std::optional<Isa> fuse)
    : plain_(std::make_shared<const DoublesSection>(translate(kernels))) {
  if (!fuse || !plain_->usable) return;
  compiled_ = std::make_shared<FirstRunCompilation>();
  compiled_->translate = std::move(translate);
  compiled_->isa = *fuse;
  compiled_->batch = kernels.batch;
}

const DoublesSection& CompiledDoubles::ready() const {
  if (compiled_ == nullptr) return *plain_;
  std::call_once(compiled_->made, [this] {
    compiled_->section = *plain_;
    DoublesKernels kernels = tracing_kernels(compiled_->isa);
    kernels.batch = compiled_->batch;
    const DoublesSection traced = compiled_->translate(kernels);
    Fuser fuser(compiled_->section, traced, compiled_->isa);
    for (OpList DoublesSection::*list : {&DoublesSection::before, &DoublesSection::iteration,
                                         &DoublesSection::last, &DoublesSection::after}) {
      fuser.replace(compiled_->section.*list, (traced.*list).ops);
    }
  });
  return compiled_->section;
}

}  // namespace gdr::codegen
