// Reciprocal roots that become one function of a GPU.
#pragma once

#include <optional>
#include <vector>

#include "emulator/engine/native/translate/graph.hpp"

namespace gdr::native {

/// scale / sqrt(x), NaN for an infinite x: the nodes that compute it.
struct ScaledRoot {
  Ref x = no_ref;
  Ref scale = no_ref;    ///< constant factor; none: 1
  Ref product = no_ref;  ///< product of root and scale; none without a scale
  Ref root = no_ref;     ///< estimate of the root
};

/// The root that a node computes, if it does.
std::optional<ScaledRoot> scaled_root(const Graph& g, const Node& node);

/// The needed nodes without the parts of such roots that nothing else uses.
std::vector<bool> without_root_parts(const Graph& g, std::vector<bool> needed);

}  // namespace gdr::native
