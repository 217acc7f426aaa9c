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
  static constexpr std::size_t max_targets = 128;  ///< maximum number of targets of a task

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
  static constexpr std::size_t start = 0, body = 1, end = 2, sections = 3;
  static constexpr std::array all_sections{start, body, end};

  /// A short that all PEs have alike: a constant; of the broadcast memory, or of the last source;
  /// else what the image has in its PEs at the place that is read.
  struct UniformWord {
    bool given = false;
    bool before_start =
        false;  ///< whether it is a word of the broadcast memory before section Start
    std::optional<std::uint32_t> address, of_source;
    std::uint64_t word = 0;  ///< value in the present image, unless it comes from the source
  };
  /// What a short of the state would hold: a half of a field of the targets or of an output of a
  /// kernel, or the same in all PEs. Lost: what only the state could hold.
  struct Origin {
    enum class Kind : std::uint8_t { Lost, Field, Output, Uniform } kind = Kind::Lost;
    WordType type = WordType::Long;  ///< type of the write
    std::uint8_t half = 0;           ///< 1: the lower half of a long
    std::size_t number = 0;          ///< number of the field, or of the output's kernel
    std::size_t section = 0;         ///< section of that kernel
    std::uint32_t offset = 0;        ///< offset in the kernel's work items, bytes
    UniformWord word;
  };
  /// Nothing is known of a place that is missing: it holds what the image does.
  using Origins = std::map<StatePlace, Origin>;

  struct FieldInput {
    std::size_t field = 0;
    std::uint32_t offset = 0;
    WordType type = WordType::Long;
  };
  struct UniformInput {
    LeafKey key;
    UniformWord upper, lower;  ///< the same for a short
    std::uint32_t offset = 0;
    std::uint64_t lane = 0;  ///< value in the present image, unless it comes from the source
    bool of_source() const { return upper.of_source || lower.of_source; }
  };
  /// An output of an earlier section.
  struct CopiedInput {
    std::size_t section = 0, kernel = 0;
    std::uint32_t from = 0, offset = 0;
    WordType type = WordType::Long;
  };
  struct KernelInputs {
    std::vector<FieldInput> fields;
    std::vector<UniformInput> uniforms;
    std::vector<CopiedInput> copied;
  };
  struct ResultOutput {
    std::size_t field = 0, section = 0, kernel = 0;
    std::uint32_t offset = 0;
    WordType type = WordType::Long;
  };
  /// Transfers for the code of all sections.
  struct Plan {
    std::array<std::vector<KernelInputs>, sections> inputs;  ///< inputs by section and kernel
    std::vector<ResultOutput> results;
  };
  using Codes = std::array<const CompiledKernels*, sections>;

  struct Scratch;

  const CompiledSection& section(std::size_t number) const {
    constexpr std::array names{Section::Start, Section::Body, Section::End};
    return *compiled_.section(names[number]);
  }
  bool may_run(const PackedPlan& plan) const;
  Plan make_plan(const Codes& codes) const;
  static void set_word(LeafKey key, Origin origin, Origins& origins);
  void set_outputs(std::size_t number, const CompiledKernels& code, Origins& origins) const;
  static KernelInputs inputs_of(const CompiledKernels::Entry& entry, const Origins& origins);
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
  std::uint64_t image_ = 0;  ///< number of the last prepared image
  Codes codes_{};
  Plan* plan_ = nullptr;  ///< transfers for that code; null: targets run on blocks
  std::map<Codes, std::optional<Plan>> plans_;
  std::array<LaneBytes, sections> uniforms_;  ///< invariant words by section
};

}  // namespace gdr::native
