// Peephole optimisation of sums of shorts into longs, the most expensive operations of force
// kernels.
#pragma once

#include <vector>

#include "emulator/engine/vector/doubles/frame_layout.hpp"

namespace gdr {

/// Two transformations that preserve all words after the list. An accumulation in place under a
/// predicate adds zeros in the lanes that are left out. Of two accumulations to the same rows one
/// after the other, with nothing in between that reads them, the first need not normalise its pair
/// (DoublesKernels::accumulate_unnormalized).
void simplify_accumulations(std::vector<RowOp>& ops, const DoublesKernels& kernels);

}  // namespace gdr
