// Limits of periodic images that parameters decide: the library compares them with the box when a
// kernel runs, as the compiler does for constants.
#pragma once

#include <string>
#include <vector>

#include "kernels/compiler/ir/graph.hpp"

namespace gdr {

/// A product of a constant and parameters, some more than once.
struct ParameterProduct {
  double factor = 1;
  std::vector<std::string> parameters = {};
};

/// A comparison of a number that is computed from periodic images with a limit.
struct ImageLimit {
  std::vector<ParameterProduct> edges;  ///< those of the box that are such products; at least one
  bool squared = false;                 ///< whether squares are compared
  ParameterProduct limit;
};

namespace kc {

/// The comparisons of a kernel in which a parameter occurs.
std::vector<ImageLimit> find_image_limits(const Graph& graph);

}  // namespace kc
}  // namespace gdr
