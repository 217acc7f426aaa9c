// Up to which distance periodic images of constant boxes are complete.
#pragma once

#include <optional>

#include "kernels/compiler/front/arithmetic.hpp"

namespace gdr::kc::front {

/// The largest value of a number that is computed from periodic images, d - L round(d/L) with a
/// constant L, for which no further image has one that is as small: L/2 for an image and its size,
/// of several edges the shortest, and the square of it for a sum of squares. None for other
/// numbers.
std::optional<double> complete_images(const NodeTable& nodes, NodeId number);

}  // namespace gdr::kc::front
