// Code generation: from the pair law to assembly text by lowering, scheduling and allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/compiler/compiler.hpp"
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

/// Layout of an item in the source stream.
struct ItemLayout {
  std::vector<int> address;  ///< short address of each source variable, `none` for others
  unsigned shorts = 0;       ///< size of an item, even
};

/// One way of compiling the loop.
struct CompiledLoop {
  MachineLoop loop;
  Problem problem;  ///< refers to `loop`: adjust it after a copy
  Schedule schedule;
  Allocation allocation;
  bool prologue_predicated = false;  ///< the prologue is predicated by a mask
  std::vector<ValueId> pads;         ///< fields padded with zero; other numbers are padded far away
  SavedSchedule saved;               ///< parameters of the schedule
  unsigned rematerialized = 0;       ///< number of rematerialized values
};

/// A scheduled kernel with everything that a report shows. Not to be copied.
struct CompiledKernel : CompiledLoop {
  Graph graph;  ///< with inferred types and factored masks
  ItemLayout item;
  std::string assembly;
  std::vector<std::string> remarks;  ///< decisions of the compiler, one sentence each
};

/// Compile the graph; a saved schedule is tried first, and `sources` are the texts for comments in
/// the assembly. Throws CompileError if a resource is exceeded.
void generate_code(const Graph& graph, const CompileOptions& options,
                   std::span<const SourceText> sources,
                   const std::optional<SavedSchedule>& saved_schedule, CompiledKernel& out);

/// The assembly of a scheduled and allocated kernel: declarations, .start, .body and .end.
std::string emit(const CompiledKernel& kernel);

/// What limits the speed of a kernel: clocks; operations and port use of every instruction of the
/// body, with totals; storage and lifetime of every value.
std::string report(const CompiledKernel& kernel, const Program& program, const Geometry& geometry);

}  // namespace gdr::kc
