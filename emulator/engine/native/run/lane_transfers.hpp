// Where the lanes of packed targets come from, and where results lie in them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/engine/native/program/program.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr::native {

/// Maximum number of targets of a task.
inline constexpr std::size_t max_lane_targets = 128;

/// The sections that targets run through, by number.
struct LaneSections {
  static constexpr std::size_t start = 0, body = 1, end = 2, count = 3;
  static constexpr std::array all{start, body, end};
  static constexpr std::array names{Section::Start, Section::Body, Section::End};
};

/// A short that all PEs have alike: a constant; of the broadcast memory, or of the last source;
/// else what the image has in its PEs at the place that is read.
struct UniformWord {
  bool given = false;
  bool before_start = false;  ///< whether it is a word of the broadcast memory before section Start
  std::optional<std::uint32_t> address, of_source;
  std::uint64_t word = 0;  ///< value in the present image, unless it comes from the source
};
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
struct LaneTransfers {
  std::array<std::vector<KernelInputs>, LaneSections::count>
      inputs;  ///< inputs by section and kernel
  std::vector<ResultOutput> results;
};
using LaneCodes = std::array<const CompiledKernels*, LaneSections::count>;

/// The transfers for the code of each section. Throws Unsupported if a word is read in parts, as a
/// word of another type, or from where only the state could hold it.
LaneTransfers make_lane_transfers(const CompiledProgram& compiled, const LoadedProgram& loaded,
                                  const LaneCodes& codes);

}  // namespace gdr::native
