// The largest number of operations that a program may count for an interaction.
#pragma once

namespace gdr {

/// The rates and sums of any number of such interactions are finite doubles.
constexpr double max_flops = 1e15;

}  // namespace gdr
