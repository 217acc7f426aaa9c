// A program's sections in host doubles that are verified to be exact, with their statistics.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "emulator/engine/api/engine.hpp"
#include "emulator/engine/vector/doubles/codegen/compiled_doubles.hpp"
#include "emulator/engine/vector/doubles/run.hpp"

namespace gdr {

class VerifiedSections {
 public:
  /// Two translations: [heads], with and without tails of longs (translate_to_doubles).
  using Variants = std::array<codegen::CompiledDoubles, 2>;

  /// `fused_isa`: instruction set of generated machine code, if any. `program` outlives this.
  VerifiedSections(const Program& program, const Geometry& geometry, Isa isa,
                   std::optional<Isa> fused_isa);

  /// The host's kernels; null if its doubles cannot be verified: then nothing else is usable.
  const DoublesKernels* kernels() const noexcept { return kernels_; }
  const DoublesSection& section(Section s) const noexcept {
    return *sections_[static_cast<unsigned>(s)][0];
  }
  /// Fused run of Start, body and End.
  const Variants& fused() const noexcept { return fused_; }
  /// The translation of fused runs for other kernels.
  codegen::Translate fused_translation(bool heads) const;

  /// Runs a section; returns the number of completed iterations.
  std::uint64_t run(BlockState& block, const BlockRun& run, SourceLanes sources) const;
  /// Runs Start, body and End; false if the block is unchanged.
  bool run_fused(BlockState& block, const BlockRun& body, SourceLanes sources) const;

  void count_fused_run() const;
  /// Counts runs of a section that were computed otherwise.
  void count(Section section, std::uint64_t verified, std::uint64_t repeated) const noexcept;
  ExecutableStats stats() const;

 private:
  DoublesResult run_verified(const Variants& section, BlockState& block, const BlockRun& run,
                             SourceLanes sources) const;
  void record_failure(unsigned section, BlockState& block, const BlockRun& run,
                      SourceLanes sources) const;

  const Program& program_;
  const Geometry geometry_;
  const DoublesKernels* const kernels_;
  std::array<Variants, section_count> sections_;
  Variants fused_;
  mutable std::array<std::atomic<std::uint64_t>, section_count> verified_{}, repeated_{};
  mutable std::array<std::atomic_flag, section_count> failure_known_{};
  mutable std::mutex lock_;  ///< protects the texts
  mutable std::array<std::string, section_count> failures_;
};

}  // namespace gdr
