// The native engine's pass runner: packs targets into vectors and all sources of all chips into one
// list.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/engine/api/pass.hpp"
#include "emulator/engine/native/program/program.hpp"
#include "emulator/engine/native/translate/integer_sums.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr::native {

/// On the chip a target has one element of one PE, and whole blocks are processed. If no PE reads
/// its number, the sections can run on a block with exactly as many PEs as the targets need; if all
/// elements compute alike (the plan is folded: `elements` is 1), on a block in which every PE holds
/// one target in element 0. Few targets then fill vectors instead of blocks.
struct PackedPlan {
  bool usable = false;
  /// One instance of every kernel works for all elements; otherwise all instances work, also if a
  /// PE has one element.
  bool folded = false;
  unsigned elements = 1;  ///< targets of a PE
  /// A word that sections read before they write it and that belongs to no target: a constant of
  /// section Init, a parameter, or unused. It must be equal in all PEs and elements.
  /// Rows of element 0 and, if folded, of the others.
  std::vector<std::vector<CellRow>> presets;
  /// By how much a pass of the loop, or End, changes results that are sums of integers (iadd) at
  /// most. None if that is not known.
  std::optional<IntegerBound> integer_change;
  std::string reason;  ///< why it is not usable
};

PackedPlan make_packed_plan(const CompiledProgram& compiled, const LoadedProgram& loaded);

/// What executes the passes that a packed runner does not.
struct OtherRunners {
  std::shared_ptr<PassRunner> blockwise;
  /// Makes the runner of passes with numbers or integers beyond the range of the lanes, when the
  /// first of them comes. Without it they run block by block.
  std::function<std::unique_ptr<PassRunner>()> make_in_doubles;
};

/// Runs results-only passes on packed targets, and all others block by block. Many sources are cut
/// into slices, whose results are reduced like those of the network; the number of slices depends
/// only on the number of sources. So results depend neither on the grouping of targets nor on the
/// number of threads.
/// `runs`: counts of the executable's runs, by section. `in_chips`: the program that the chips have
/// if it is another one, with the same variables for the host; then only passes run here whose
/// results do not go through the network in that program's words.
std::unique_ptr<PassRunner> make_packed_runner(const CompiledProgram& compiled,
                                               const LoadedProgram& loaded,
                                               const Geometry& geometry,
                                               const Executable& executable, OtherRunners others,
                                               std::atomic<std::uint64_t>* runs,
                                               const LoadedProgram* in_chips = nullptr);

}  // namespace gdr::native
