// Packed targets in lanes only: records of the link to lanes, and lanes to records of results.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "emulator/engine/native/run/block_executor.hpp"
#include "emulator/engine/native/run/kernel_calls.hpp"
#include "emulator/engine/native/run/lane_transfers.hpp"
#include "emulator/engine/native/run/near_sources.hpp"
#include "emulator/engine/native/run/packed_plan.hpp"

namespace gdr::native {

/// Targets of one task, side by side, and the destination of their results.
struct TargetRecords {
  const std::uint64_t* targets = nullptr;  ///< LinkLayout::target_words each
  std::uint64_t* results = nullptr;  ///< LinkLayout::result_words each; zero if floats share words
  std::uint32_t count = 0;
};

/// Runs all sections for targets that no state of PEs holds, with the results of run_packed: for
/// few targets the conversions of words to the state and back, section by section, take as long as
/// all else beside the loop. Among doubles, for kernels that process element 0 for all others,
/// without lists and tables, whose sections leave each other whole words.
class LaneTargets {
 public:
  LaneTargets(const CompiledProgram& compiled, const LoadedProgram& loaded, const PackedPlan& plan);

  /// Prepares for blocks whose words are those of `image`, which `number` identifies, before their
  /// targets are written. False if these programs have to run on blocks.
  bool prepare(const BlockState& image, std::uint64_t number);
  /// After `prepare`: whether PackedSources::last_groups are read.
  bool reads_last_groups() const;
  /// After `prepare`, in several threads at once; at most `groups_between_polls` groups of sources.
  /// False, without results, if one of them may be wrong because a number was infinite: run_packed
  /// has code for that.
  bool run(const TargetRecords& records, const PackedSources& sources) const;

 private:
  struct Scratch;

  const CompiledSection& section(std::size_t number) const {
    return *compiled_.section(LaneSections::names[number]);
  }
  bool may_run(const PackedPlan& plan) const;
  /// For blocks before section Start, and after it.
  bool prepare_from(const BlockState& before, const BlockState& after);
  void set_uniforms(const BlockState& before, const BlockState& after);
  static std::uint64_t lane_of(const UniformInput& input, const std::uint64_t* last_group);
  /// Not inlined, since the compiler would look up the thread's buffers at each use.
  [[gnu::noinline]] bool run_with(Scratch& scratch, const TargetRecords& records,
                                  const PackedSources& sources) const;

  const CompiledProgram& compiled_;
  const LoadedProgram& loaded_;
  const bool may_run_;
  std::optional<CutoffWords> cutoff_;  ///< none: all sources may contribute to all targets
  std::uint64_t image_ = 0;            ///< number of the last prepared image
  LaneCodes codes_{};
  LaneTransfers* plan_ = nullptr;  ///< transfers for that code; null: targets run on blocks
  std::map<LaneCodes, std::optional<LaneTransfers>> plans_;
  std::array<LaneBytes, LaneSections::count> uniforms_;  ///< invariant words by section
};

}  // namespace gdr::native
