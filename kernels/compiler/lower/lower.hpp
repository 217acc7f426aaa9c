// Lowering: from the pair law to machine IR.
#pragma once

#include "emulator/assembler/diagnostic.hpp"
#include "kernels/compiler/ir/compilation.hpp"
#include "kernels/compiler/ir/graph.hpp"
#include "kernels/compiler/ir/machine_ir.hpp"

namespace gdr::kc {

/// Narrow inputs without declared type to short if all uses multiply in short precision, as the
/// original kernels hold masses.
void infer_types(Graph& graph);

/// Make every number a long, whatever its declared type and the precision of the kernel. Roundings
/// that the text asks for by short(x) stay.
void use_longs(Graph& graph);

/// Leave out pairs whose distance is not below a radius of the target, and those whose target and
/// source have the same number: adds the three variables of `cutoff_names`, and a condition to
/// every contribution. The distance is computed in longs.
void add_cutoff(Graph& graph, const CutoffPositions& positions);

/// Compare a value once where a condition compares it with two limits that do not depend on the
/// source: `x < a && x < b` becomes `x < min(a, b)`, whose minimum is computed before the loop, and
/// `skip if (x >= a || x >= b)` likewise. Values that are not numbers have the same result.
void merge_limits(Graph& graph);

/// Replace conditions on contributions by a zero in a common factor where there is one; the others
/// stay with their contributions.
void factor_masks(Graph& graph);

/// The operations of one item for `elements` targets per PE, unscheduled, operands first. `relaxed`
/// allows optimisations that change rounding: constant factors move out of the loop. `plain_roots`:
/// reciprocals and roots are multiplied by their constant factor at once, instead of with the
/// results: engines among floats replace them by their own, whose factor is then one, and a
/// constant factor would round all terms of a sum in the same direction.
MachineLoop lower(const Graph& graph, unsigned elements, bool relaxed = false,
                  bool plain_roots = false);

/// The machine word of a number: a short if that is exact, else a long.
Ref constant_ref(double number);

}  // namespace gdr::kc
