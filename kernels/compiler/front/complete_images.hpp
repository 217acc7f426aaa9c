// Numbers that are computed from periodic images, d - L round(d/L).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/compiler/ir/graph.hpp"

namespace gdr::kc::front {

/// The edges L of the periodic images that a number is computed from: of an image and its size, or
/// of a sum of squares with images.
struct ImageEdges {
  std::vector<NodeId> edges;
  bool squared = false;  ///< whether the number is a sum of squares
};

/// None for other numbers.
std::optional<ImageEdges> image_edges(std::span<const Node> nodes, NodeId number);

/// The largest value of such a number with constant edges for which no further image has one that
/// is as small: half of the shortest edge, or its square. Edges that are not constant do not count.
std::optional<double> complete_images(std::span<const Node> nodes, NodeId number);

}  // namespace gdr::kc::front
