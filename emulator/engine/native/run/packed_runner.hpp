// The native engine's pass runner: packs targets into vectors and all sources of all chips into one
// list.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "emulator/engine/api/pass.hpp"
#include "emulator/engine/native/program/program.hpp"
#include "emulator/port/loaded_program.hpp"

namespace gdr::native {

/// What executes the passes that a packed runner does not.
struct FallbackRunners {
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
std::unique_ptr<PassRunner> make_packed_runner(
    const CompiledProgram& compiled, const LoadedProgram& loaded, const Geometry& geometry,
    const Executable& executable, FallbackRunners fallbacks, std::atomic<std::uint64_t>* runs,
    const LoadedProgram* in_chips = nullptr);

}  // namespace gdr::native
