// The reduction network: a binary tree over the blocks in a fixed order.
#pragma once

#include <span>

#include "emulator/isa/program.hpp"
#include "emulator/numeric/float.hpp"

namespace gdr {

/// One node: combine two long words. Pass takes the left one; not for Index.
Long reduce_node(Reduce op, Long left, Long right, Flags& flags) noexcept;

/// The whole tree over one word of every leaf: (0,1), (2,3), ..., then their results in pairs, and
/// so on; an odd one out goes up unchanged. `leaves` is not empty. Pass gives leaf 0.
Long reduce_tree(Reduce op, std::span<const Long> leaves, Flags& flags);

/// Reduction Index: of the leaves whose key is the reduced one, the least as a number without a
/// sign (so that -1, no index, is the largest). `keys` and `leaves` are of equal length and not
/// empty. Joining parts, and then their keys and results, gives the same.
Long reduce_index(Reduce key, std::span<const Long> keys, std::span<const Long> leaves);

}  // namespace gdr
