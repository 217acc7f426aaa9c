// Constant factors that several products need are given to a factor that these share.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "kernels/compiler/ir/graph.hpp"

namespace gdr::kc {

/// Factors by node.
using NodeFactors = std::map<NodeId, double>;

/// Where the terms of a sum have different scales, some are multiplied by a constant.
/// `corrections` has these terms with their constants, `uses` the number of readers of each node.
/// Returns the nodes that get the constants instead: a factor of all products that need the same
/// one, or a product with a constant, which takes in another one without a multiplication.
/// For a x + b and a y + c with a correction of both products this is a.
NodeFactors shared_factors(const Graph& graph, const std::vector<std::uint32_t>& uses,
                           const NodeFactors& corrections);

}  // namespace gdr::kc
