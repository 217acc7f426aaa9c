#include "emulator/engine/native/run/section_run.hpp"

#include <algorithm>
#include <optional>

#include "emulator/engine/native/run/section_checks.hpp"
#include "emulator/engine/native/run/section_loads.hpp"
#include "emulator/engine/native/run/section_stores.hpp"
#include "emulator/engine/native/translate/float_range.hpp"

namespace gdr::native {

SectionRun::SectionRun(const CompiledSection& section, BlockState& block, const BlockRun& run,
                       bool folded)
    : f_{scratch_of_thread(), section, block, run, folded, block.pes} {
  // A word for the broadcast memory may come from any PE.
  if (run.live_pes != 0 && section.bm_stores().empty()) f_.live = std::min(f_.live, run.live_pes);
}

void SectionRun::leave_out_idle_pes() {
  std::uint32_t needed = std::max(f_.run.live_pes, 1U);
  for (const BmStore& store : f_.section.bm_stores()) needed = std::max(needed, store.pe + 1);
  f_.live = std::min(f_.live, needed);
}

void SectionRun::leave_to(const CompiledSection& next) {
  f_.scratch.scatter_words.assign(f_.section.bm_stores().size() * 3 * f_.live, 0);
  store_all(f_, next.unfused_constants());
}

void SectionRun::set_windows(const SourceWindows& windows, std::uint64_t first) noexcept {
  f_.windows = &windows;
  f_.first_window = first;
}

bool SectionRun::load(std::uint64_t count, bool after, GpuBatch& batch, const GpuSlot& slot) {
  f_.after = after;
  f_.count = count;
  if (!prepare(f_.section.precision(), &batch.gpu())) return false;
  return batch.load(slot, *f_.code, f_.scratch.items.data(), begins(), all_instances(),
                    f_.scratch.uniforms.data(), f_.uniform_bytes());
}

bool SectionRun::finish_loaded(std::uint64_t count, bool after, const GpuBatch& batch,
                               const GpuSlot& slot) {
  f_.after = after;
  f_.count = count;
  if (!prepare(f_.section.precision(), &batch.gpu())) return false;
  batch.store(slot, f_.scratch.items.data(), begins(), all_instances());
  if (f_.precision() == Precision::Float && !(results_are_finite(f_) && have_not_vanished(f_))) {
    f_.section.note_run_in_doubles();
    return false;
  }
  if (f_.precision() == Precision::Double && !results_are_numbers(f_)) return false;
  f_.section.note_gpu_run();
  store_all(f_, f_.section.constants());
  return true;
}

bool SectionRun::run_iterations(std::uint64_t count, std::uint32_t source_base, bool after) {
  f_.after = after;
  f_.source_base = source_base;
  f_.count = count;
  // Streams were checked at conversion.
  if (f_.section.precision() == Precision::Float) {
    save_lists(f_);
    if (!prepare(f_.section.precision()) || !compute()) {
      if (f_.variant.source_vectors) return false;
      f_.section.note_run_in_doubles();
      restore_lists(f_);
      run_in_doubles();
    }
  } else if (!run_in_doubles()) {
    return false;
  }
  store_all(f_, f_.section.constants());
  return true;
}

/// Again where a result is NaN or infinite, with the values of IEEE 754 for infinite numbers,
/// which cost some speed. At once with lists, which would have to be saved.
bool SectionRun::run_in_doubles() {
  f_.variant.infinities =
      std::ranges::any_of(f_.section.kernels(), [](const Kernel& k) { return !k.lists.empty(); });
  if (!prepare(Precision::Double) && f_.variant.source_vectors) return false;
  if (!compute()) {
    f_.variant.infinities = true;
    prepare(Precision::Double);
    compute();
  }
  f_.variant.infinities = false;
  return true;
}

/// Selects the code and loads its inputs; false if floats cannot represent them, or if a GPU
/// cannot execute it.
bool SectionRun::prepare(Precision precision, Gpu* gpu) {
  const std::uint64_t zeros = zero_words(f_.section, f_.block);
  f_.code = gpu != nullptr ? f_.section.gpu_code(*gpu, zeros, precision)
                           : &f_.section.code(zeros, precision, f_.variant);
  if (f_.code == nullptr) return false;
  // Rows are for the vectors of the section's target.
  if (f_.variant.source_vectors && f_.lanes() != f_.section.target().lanes()) return false;
  f_.converts_avx512 = f_.code->target.isa == Isa::Avx512;
  f_.chunks = (f_.live + f_.lanes() - 1) / f_.lanes();
  std::size_t bytes = 0;
  f_.places.clear();
  for (std::size_t k = 0; k < f_.section.kernels().size(); ++k) {
    const auto& entry = f_.code->kernels[k];
    const std::size_t copies = entry.machine.copies;
    const std::size_t items = f_.instances(k) * f_.chunks;
    const std::size_t padded = (items + copies - 1) / copies * copies;
    f_.places.push_back({bytes, items, padded});
    bytes += padded * entry.code.layout.bytes();
  }
  grow(f_.scratch.items, bytes);
  for (std::size_t k = 0; k < f_.places.size(); ++k) bind_lists(f_, k);
  f_.scratch.scatter_words.assign(f_.section.bm_stores().size() * 3 * f_.live, 0);
  if (precision == Precision::Double) return load_words(f_) && load_state(f_);
  clear_padding(f_);
  const RangeErrorMonitor range_errors(true);
  return load_words(f_) && load_state(f_) && !range_errors.detected();
}

/// Runs all kernels; false after a float range error: underflow to zero, or overflow that reached
/// a result; and if a result of doubles may be wrong because a number was infinite.
bool SectionRun::compute() {
  std::optional<RangeErrorMonitor> range_errors;
  // An estimate alone does not show that its operand overflowed.
  if (f_.precision() == Precision::Float)
    range_errors.emplace(f_.section.notes_overflow(), !all_may_vanish(f_));
  for (std::size_t k = 0; k < f_.section.kernels().size(); ++k) execute(k);
  if (!range_errors) return f_.variant.infinities || results_are_numbers(f_);
  return !range_errors->detected() && results_are_finite(f_) && have_not_vanished(f_);
}

void SectionRun::execute(std::size_t k) {
  call_kernel({f_.section,
               *f_.code,
               {f_.source, f_.count, f_.windows, f_.first_window},
               f_.scratch.uniforms.data(),
               f_.chunks,
               f_.live},
              k, f_.scratch.items.data() + f_.places[k].begin, f_.places[k].items,
              f_.scratch.calls);
}

std::vector<std::size_t> SectionRun::begins() const {
  std::vector<std::size_t> begins;
  for (const ItemPlace& place : f_.places) begins.push_back(place.begin);
  return begins;
}
std::vector<std::size_t> SectionRun::all_instances() const {
  std::vector<std::size_t> all;
  for (std::size_t k = 0; k < f_.places.size(); ++k) all.push_back(f_.instances(k));
  return all;
}

}  // namespace gdr::native
