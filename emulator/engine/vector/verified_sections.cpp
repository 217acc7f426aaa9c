#include "emulator/engine/vector/verified_sections.hpp"

#include <utility>

#include "emulator/engine/lanes/doubles/verified.hpp"

namespace gdr {

VerifiedSections::VerifiedSections(const Program& program, const Geometry& geometry, Isa isa,
                                   std::optional<Isa> fused_isa)
    : program_(program),
      geometry_(geometry),
      kernels_(verified_doubles_kernels(
          isa, geometry.pes_per_block < wide_batch ? narrow_batch : wide_batch)) {
  if (kernels_ == nullptr) return;
  for (const bool heads : {false, true}) {
    for (unsigned s = 0; s < section_count; ++s) {
      const auto translate = [this, s, heads](const DoublesKernels& kernels) {
        return translate_to_doubles(program_, static_cast<Section>(s), geometry_, kernels, heads);
      };
      sections_[s][heads] = codegen::CompiledDoubles(translate, *kernels_, fused_isa);
    }
    fused_[heads] = codegen::CompiledDoubles(fused_translation(heads), *kernels_, fused_isa);
  }
}

codegen::Translate VerifiedSections::fused_translation(bool heads) const {
  return [this, heads](const DoublesKernels& kernels) {
    return translate_program(program_, geometry_, kernels, heads);
  };
}

/// First assumes that longs have no tails.
DoublesResult VerifiedSections::run_verified(const Variants& section, BlockState& block,
                                             const BlockRun& run, SourceLanes sources) const {
  DoublesResult result{has_tail, 0};
  const auto run_on = [&](const codegen::CompiledDoubles& variant) {
    return run_on_doubles(variant.ready(), *kernels_, block, run, sources);
  };
  if (section[1]->usable) result = run_on(section[1]);
  if (result.failure == has_tail && result.iterations == 0) result = run_on(section[0]);
  return result;
}

std::uint64_t VerifiedSections::run(BlockState& block, const BlockRun& run,
                                    SourceLanes sources) const {
  if (kernels_ == nullptr) return 0;
  const auto number = static_cast<unsigned>(run.section);
  const Variants& section = sections_[number];
  if (!section[0]->usable) {
    // Sections without floats do not use doubles.
    if (section[0]->has_floats) count(run.section, 0, 1);
    return 0;
  }
  const DoublesResult result = run_verified(section, block, run, sources);
  if (result.iterations == 0) record_failure(number, block, run, sources);
  count(run.section, result.iterations != 0 ? 1 : 0, result.iterations != 0 ? 0 : 1);
  return result.iterations;
}

bool VerifiedSections::run_fused(BlockState& block, const BlockRun& body,
                                 SourceLanes sources) const {
  if (run_verified(fused_, block, body, sources).failure != 0) return false;
  count_fused_run();
  return true;
}

void VerifiedSections::count_fused_run() const {
  for (const Section s : {Section::Start, Section::Body, Section::End})
    if (section(s).has_floats) count(s, 1, 0);
}

void VerifiedSections::count(Section section, std::uint64_t verified,
                             std::uint64_t repeated) const noexcept {
  const auto number = static_cast<unsigned>(section);
  verified_[number].fetch_add(verified, std::memory_order_relaxed);
  repeated_[number].fetch_add(repeated, std::memory_order_relaxed);
}

/// Records the diagnosis of the first failed run.
void VerifiedSections::record_failure(unsigned section, BlockState& block, const BlockRun& run,
                                      SourceLanes sources) const {
  if (failure_known_[section].test_and_set(std::memory_order_relaxed)) return;
  std::string text = diagnose(program_, *sections_[section][0], *kernels_, block, run, sources);
  const std::scoped_lock lock(lock_);
  failures_[section] = std::move(text);
}

ExecutableStats VerifiedSections::stats() const {
  ExecutableStats stats;
  const std::scoped_lock lock(lock_);
  for (unsigned s = 0; s < section_count; ++s) {
    const DoublesSection& section = *sections_[s][0];
    stats[s] = {section.usable, section.reason, failures_[s], verified_[s], repeated_[s], 0, 0.0};
  }
  return stats;
}

}  // namespace gdr
