// Placement of targets and sources on a chip, and the layout of a program's variables on the link.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "emulator/isa/program.hpp"

namespace gdr {

/// Partition of targets and sources over the blocks of a chip.
enum class ChipPartition : std::uint32_t {
  /// Every block has its own targets, and processes every source:
  /// target q is in block q / (P E), PE q / E mod P, element q mod E.
  TargetsOverBlocks = 0,
  /// Every block has the same targets, and a slice of the sources; the network reduces the results:
  /// target q is in PE q / E, element q mod E, of every block.
  SourcesOverBlocks = 1,
  /// Runs only: targets as in TargetsOverBlocks, and every source has a part for each block. A
  /// record in memory has the parts of all blocks in order; all blocks process every item, and the
  /// network reduces their output items.
  PartsOverBlocks = 2,
};

/// Whether a mask of chips has this chip.
constexpr bool takes_part(std::uint64_t chips, std::size_t chip) noexcept {
  return ((chips >> chip) & 1) != 0;
}

enum RunFlags : std::uint32_t {
  run_start = 1,  ///< run section Start first (clears accumulators)
  run_end = 2,    ///< run section End afterwards
  run_flags = 4,  ///< keep sticky exception flags
  /// Only the results read directly after the run are used. The next run has `run_start` and new
  /// targets; except for parameters, the PEs' state is undefined until then.
  run_results_only = 8,
  /// Output items are results of the list instead of being stored in memory; the board reduces
  /// those of several chips with each variable's reduction.
  run_return = 16,
  /// With ChipPartition::SourcesOverBlocks: results may be reduced in any order. Fast numerics may
  /// reduce all sources in one sum, as if one block processed them.
  run_reassociate = 32,
};

enum ReadFlags : std::uint32_t {
  read_combine = 1,  ///< the board reduces the words of the chips with each variable's reduction
  /// Results are unrounded words of the network, to be reduced with those of other sources: two
  /// words for every `fvar` of a target, the low 64 bits of the long word and the upper bits.
  read_raw = 2,
};

/// Layout of a program's variables on the link: 64-bit words of a target, an item, a result, with
/// fields in the order of declaration. Two floats (f32) share a word, the first in the low half;
/// other fields begin a word, and each group is padded to whole words. A raw long has two words,
/// the low 64 bits first. Each param is a group of one value.
struct LinkLayout {
  struct Field {
    std::uint32_t variable;    ///< index into Program::variables
    std::uint32_t half_word;   ///< offset in the group, in 32-bit units
    std::uint32_t half_words;  ///< size
  };
  std::vector<Field> targets, sources, results, outputs, params;
  std::uint32_t target_words = 0, source_words = 0, result_words = 0, output_words = 0;
};
LinkLayout link_layout(const Program& program);

/// Words that a ReadTargets command returns for each target.
constexpr std::uint64_t words_of_target(const LinkLayout& layout, std::uint32_t flags) noexcept {
  return (flags & read_raw) != 0 ? 2 * layout.results.size() : layout.result_words;
}

/// Those of an index and its key, which a chip returns for every block instead of joining them if
/// blocks share their targets: the board joins them.
std::uint64_t unjoined_words_of_target(const Program& program, std::uint32_t flags);

/// Records of `output_words` that a j-item produces: one for each block if an `ovar` has reduction
/// "pass" and all blocks process the item, else one.
std::uint64_t output_records(const Program& program, const Geometry& geometry,
                             ChipPartition partition) noexcept;

/// Target slots of a chip under a partition.
std::uint64_t target_slots(const Program& program, const Geometry& geometry,
                           ChipPartition partition) noexcept;

}  // namespace gdr
