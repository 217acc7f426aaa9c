// From the pair law to operations of the machine.
#pragma once

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/graph.hpp"
#include "kernels/compiler/machine.hpp"

namespace gdr::kc {

struct LowerOptions {
  unsigned elements = 4;
  /// Also what changes roundings: constant factors are moved out of the loop.
  bool relaxed = false;
};

/// Narrow inputs whose type was not declared to short where every use multiplies in short
/// precision, as the original kernels hold masses.
void infer_types(Graph& graph);

/// Put conditions on contributions where they cost least: as a zero in a common factor if there is
/// one, else they stay with the contributions.
void place_gates(Graph& graph);

/// Of each node, whether a contribution needs it.
std::vector<bool> needed_nodes(const Graph& graph);

/// The operations of one item, in an order in which operands come first, unscheduled. Throws
/// Refusal where there are more conditions than the compiler can tell apart.
MachineLoop lower(const Graph& graph, const LowerOptions& options);

}  // namespace gdr::kc
