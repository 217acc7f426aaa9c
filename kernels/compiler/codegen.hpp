// Code generation: from the pair law to assembly text by lowering, scheduling and allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/isa/geometry.hpp"
#include "kernels/compiler/emit/emit.hpp"
#include "kernels/compiler/graph.hpp"
#include "kernels/compiler/regalloc/allocation.hpp"

namespace gdr::kc {

/// Parameters with which a search found its schedule; with them the search succeeds at once.
struct SavedSchedule {
  unsigned elements = 0, ii = 0, unroll = 1;
  bool prologue_predicated = false;
  bool rematerialize = false;  ///< with rematerialization
  std::uint64_t seed = 0, steps = 0;
};
/// The comment for a kernel's source, `schedule: elements 4 ii 19 ...`, and its parser. A text
/// without a valid comment gives nothing.
std::string to_text(const SavedSchedule& saved_schedule);
std::optional<SavedSchedule> find_saved_schedule(std::string_view source);

struct CodegenOptions {
  Geometry geometry;
  unsigned elements = 0;                        ///< targets per PE, 1 to 4; 0: as many as fit
  unsigned effort = 3;                          ///< search effort, from 0 (first schedule) to 9
  std::uint64_t seed = 1;                       ///< seed of the search
  bool relaxed = false;                         ///< allow optimisations that change rounding
  std::span<const SourceText> sources;          ///< source texts, for comments in the assembly
  std::optional<SavedSchedule> saved_schedule;  ///< schedule to try first
  std::stop_token stop;                         ///< cancellation, see CompileOptions
};

/// A scheduled kernel with everything that a report shows.
struct CompiledKernel {
  Graph graph;  ///< with inferred types and factored masks
  MachineLoop loop;
  Problem problem;  ///< refers to `loop` of this object: do not copy it separately
  Schedule schedule;
  Allocation allocation;
  ItemLayout item;
  bool prologue_predicated = false;
  SavedSchedule saved;          ///< parameters of the schedule
  unsigned rematerialized = 0;  ///< number of rematerialized values
  std::string assembly;
  std::vector<std::string> remarks;  ///< decisions of the compiler, one sentence each
};

/// Compile the graph. Throws CompileError if a resource is exceeded.
void generate_code(const Graph& graph, const CodegenOptions& options, CompiledKernel& out);

}  // namespace gdr::kc
