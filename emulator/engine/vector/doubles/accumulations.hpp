// Sums of shorts into longs, which take most of a force's time: cheaper where their surroundings
// allow it.
#pragma once

#include <vector>

#include "emulator/engine/vector/doubles/lay_out.hpp"

namespace gdr {

/// Two changes, which leave all words behind the list as they are. An accumulation in place under a
/// predicate adds zeros in the lanes that are left out. Of two accumulations to the same rows one
/// after the other, with nothing in between that reads them, the first need not bring its result
/// into the form of a pair (DoublesKernels::accumulate_loosely).
void ease_accumulations(std::vector<RowOp>& ops, const DoublesKernels& kernels);

}  // namespace gdr
