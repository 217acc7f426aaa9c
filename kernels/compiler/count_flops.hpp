// The default number of floating-point operations of an interaction.
#pragma once

#include "kernels/compiler/graph.hpp"

namespace gdr::kc {

/// Counts one for each sum, difference, product, quotient, root, inverse, exponential, minimum and
/// maximum that depends on the target or the source and is needed by a result, and one for each
/// number contributed to a result. Signs, comparisons, selections and integer operations are free.
double count_flops(const Graph& graph);

}  // namespace gdr::kc
