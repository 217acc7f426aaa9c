// How many operations an interaction counts where the text does not say.
#pragma once

#include "kernels/compiler/graph.hpp"

namespace gdr::kc {

/// One for each sum, difference, product, quotient, root, inverse, exponential, minimum and maximum
/// of numbers that depends on the target or the source and that a result needs, and one for each
/// number that is joined to a result. Signs, comparisons, choices and integers count nothing.
double count_flops(const Graph& graph);

}  // namespace gdr::kc
