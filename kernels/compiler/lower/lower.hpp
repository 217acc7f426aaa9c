// Lowering: from the pair law to machine IR.
#pragma once

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/graph.hpp"
#include "kernels/compiler/machine_ir.hpp"

namespace gdr::kc {

struct LowerOptions {
  unsigned elements = 4;
  /// Allow optimisations that change rounding: constant factors move out of the loop.
  bool relaxed = false;
};

/// Narrow inputs without declared type to short if all uses multiply in short precision, as the
/// original kernels hold masses.
void infer_types(Graph& graph);

/// Replace conditions on contributions by a zero in a common factor where there is one; the others
/// stay with their contributions.
void factor_masks(Graph& graph);

/// The operations of one item, unscheduled, operands first. Throws CompileError if there are more
/// conditions than masks can be tracked.
MachineLoop lower(const Graph& graph, const LowerOptions& options);

}  // namespace gdr::kc
