// Code generation: from the pair law to assembly text by lowering, scheduling and allocation.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/compiler/compiler.hpp"
#include "kernels/compiler/ir/graph.hpp"
#include "kernels/compiler/regalloc/allocation.hpp"
#include "kernels/compiler/schedule/bounds.hpp"

namespace gdr::kc {

/// Layout of an item in the source stream.
struct ItemLayout {
  std::vector<int> address;  ///< short address of each source variable, `none` for others
  unsigned shorts = 0;       ///< size of an item, even
};

/// One way of compiling the loop.
struct CompiledLoop {
  MachineLoop loop;
  Problem problem;  ///< refers to `loop`: adjust it after a copy
  LowerBounds bounds;
  Schedule schedule;
  Allocation allocation;
  bool prologue_predicated = false;  ///< the prologue is predicated by a mask
  ValueId zeroed_in_pads = none;   ///< field that is zero in pads, which else copy the last source
  unsigned rematerialized = 0;     ///< number of rematerialized values
  unsigned stored_conditions = 0;  ///< number of conditions in memory
};

/// A scheduled kernel with everything that a report shows. Not to be copied.
struct CompiledKernel : CompiledLoop {
  Graph graph;  ///< graph with inferred types and factored masks
  ItemLayout item;
  std::string assembly;
  std::vector<std::string> remarks;  ///< decisions of the compiler, one sentence each
  bool pipelined = false;            ///< sources overlap
};

/// Compile the graph; `sources` are the texts for comments in the assembly. Throws CompileError if
/// a resource is exceeded.
void generate_code(const Graph& graph, const CompileOptions& options,
                   std::span<const SourceText> sources, CompiledKernel& out);

/// The assembly of a scheduled and allocated kernel: declarations, .start, .body and .end.
std::string emit(const CompiledKernel& kernel);

/// What limits the speed of a kernel: clocks; operations and port use of every instruction of the
/// body, with totals; storage and lifetime of every value.
std::string report(const CompiledKernel& kernel, const Program& program, const Geometry& geometry);

}  // namespace gdr::kc
