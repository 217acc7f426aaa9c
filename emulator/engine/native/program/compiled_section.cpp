#include "emulator/engine/native/program/compiled_section.hpp"

#include <algorithm>
#include <utility>

#include "emulator/engine/native/gpu/gpu_kernel.hpp"
#include "emulator/engine/native/program/float_section.hpp"
#include "emulator/engine/native/program/kernel_code.hpp"

namespace gdr::native {
namespace {

const std::string not_on_gpu = "on the processor, not on the GPU: ";

}  // namespace

CompiledSection::CompiledSection(const SectionModel& model, const Liveness& liveness,
                                 std::vector<std::vector<TableShort>> table_shorts, bool loops,
                                 Target target, SectionModel* start)
    : contents_(contents_of(model, liveness, std::move(table_shorts), loops)), target_(target) {
  if (target_.precision == Precision::Float) {
    const FloatSection made = change_to_floats(contents_, target_, model, start);
    compares_results_ = made.compares_results;
    if (!made.is_supported) target_.precision = Precision::Double;
    if (!made.remark.empty()) notes_.set_remark(made.remark);
  }
  collect_words(contents_.kernels, contents_.tables, contents_.words);
}

void CompiledSection::set_previous(const CompiledSection& previous) {
  previous_ = PreviousConstants(previous.constants(), kernels(), moves());
}

bool CompiledSection::can_share_iterations() const {
  std::call_once(sharing_known_, [this] {
    const Target target{Isa::Portable, target_.precision, FloatMode::Plain, true};
    can_share_iterations_ = std::ranges::all_of(kernels(), [&](const Kernel& kernel) {
      return make_kernel_code(with_zero_words(kernel, 0, uniform_words()), loops(), target)
          .can_share_iterations;
    });
  });
  return can_share_iterations_;
}

CompiledKernels::Entry CompiledSection::make_host_entry(const Kernel& kernel,
                                                        std::uint64_t zero_words,
                                                        Target target) const {
  CompiledKernels::Entry entry = make_entry(contents_, kernel, previous_, zero_words, target);
  const CodeContext context = code_context(contents_, entry, target);
  if (target.isa == Isa::Portable) {
    entry.portable = interpret_kernel(context);
  } else {
    entry.machine = compile_kernel(context);
    entry.narrow = std::make_unique<SingleItemCode>();
    code_bytes_ += entry.machine.bytes;
  }
  return entry;
}

CompiledKernels::Entry CompiledSection::make_gpu_entry(const Kernel& kernel,
                                                       std::uint64_t zero_words, Target target,
                                                       Gpu& gpu) const {
  CompiledKernels::Entry entry = make_entry(contents_, kernel, previous_, zero_words, target);
  auto made =
      std::make_shared<GpuKernel>(gpu, code_context(contents_, entry, target), compared_words());
  code_bytes_ += made->text_bytes();
  entry.gpu = std::move(made);
  return entry;
}

std::unique_ptr<CompiledKernels> CompiledSection::compile(std::uint64_t zero_words,
                                                          Precision precision,
                                                          CompiledKernels::Variant variant) const {
  auto made = std::make_unique<CompiledKernels>();
  made->target = target_;
  made->target.precision = precision;
  made->target.infinities = variant.infinities;
  made->target.source_vectors = variant.source_vectors;
  for (;;) {
    try {
      for (const Kernel& kernel : kernels())
        made->kernels.push_back(make_host_entry(kernel, zero_words, made->target));
      return made;
    } catch (const Unsupported& e) {
      if (made->target.isa == Isa::Portable) throw;
      notes_.set_remark(std::string("portable path: ") + e.what());
      made->kernels.clear();
      made->target.isa = Isa::Portable;
    }
  }
}

std::unique_ptr<CompiledKernels> CompiledSection::compile_for(Gpu& gpu, std::uint64_t zero_words,
                                                              Precision precision) const {
  auto made = std::make_unique<CompiledKernels>();
  made->target = {Isa::Portable, precision, FloatMode::Plain, true};
  try {
    for (const Kernel& kernel : kernels())
      made->kernels.push_back(make_gpu_entry(kernel, zero_words, made->target, gpu));
    return made;
  } catch (const Unsupported& e) {
    notes_.set_remark(not_on_gpu + e.what());
  } catch (const GpuError& e) {
    if (e.failure() != GpuFailure::Compile) throw;
    gpu.require_fallback(e);
    notes_.set_remark(not_on_gpu + e.reason());
  }
  refused_by_gpu_ = true;
  return nullptr;
}

const CompiledKernels& CompiledSection::code(std::uint64_t zero_words, Precision precision,
                                             CompiledKernels::Variant variant) const {
  zero_words &= zero_candidates();
  return *codes_.get({zero_words, precision, nullptr, variant},
                     [&] { return compile(zero_words, precision, variant); });
}

const CompiledKernels* CompiledSection::gpu_code(Gpu& gpu, std::uint64_t zero_words,
                                                 Precision precision) const {
  zero_words &= zero_candidates();
  return codes_.get({zero_words, precision, &gpu, {}},
                    [&] { return compile_for(gpu, zero_words, precision); });
}

const CompiledKernel& CompiledSection::code_for(const CompiledKernels::Entry& entry, Target target,
                                                std::size_t items) const {
  if (items >= entry.machine.copies) return entry.machine;
  SingleItemCode& narrow = *entry.narrow;
  if (narrow.ready.load(std::memory_order_acquire)) return narrow.code;
  std::call_once(narrow.made, [&] {
    narrow.code = compile_kernel(code_context(contents_, entry, target), 1);
    code_bytes_ += narrow.code.bytes;
    narrow.ready.store(true, std::memory_order_release);
  });
  return narrow.code;
}

Arm64Code CompiledSection::arm64_code() const {
  Target target = target_;
  target.isa = Isa::Neon;
  const CompiledKernels::Entry entry =
      make_entry(contents_, kernels().front(), previous_, 0, target);
  return assemble_arm64(code_context(contents_, entry, target), 0);
}

void CompiledSection::note_not_on_gpu(const std::string& reason) const {
  notes_.add_remark(not_on_gpu + reason);
}

void CompiledSection::note_in_shorts(const std::string& reason) const {
  notes_.add_remark("shorts are rounded to 25 bits, as on the chip: " + reason);
}

}  // namespace gdr::native
