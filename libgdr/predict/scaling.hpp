// Strong scaling: the same job on more and more of a machine.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libgdr/predict/bottleneck.hpp"

namespace gdr::predict {

struct ScalingPoint {
  std::size_t chips = 0, boards = 0, nodes = 0;  ///< chips of the machine; boards of a node
  Prediction prediction;
  std::string bottleneck;  ///< bottleneck.hpp
  double speedup = 0;      ///< beside the first point
  double efficiency = 0;   ///< speedup for each chip more
};

/// One chip, two, ... on a board; then boards in a node; then nodes: each twice the one before, and
/// the whole machine last. Where `from_nodes` is set only whole nodes count, beginning with one.
/// Sizes that the job refuses because it does not fit (Error of category Usage) are left out; the
/// error of the whole machine is thrown if no size fits.
std::vector<ScalingPoint> strong_scaling(const Machine& machine, const JobOn& job, bool from_nodes);

/// The last point before efficiency falls below one half: from there on less than half of what is
/// added is put to use.
std::size_t last_that_pays(const std::vector<ScalingPoint>& points) noexcept;

/// The points as comma-separated values, with a line of names: data of a plot.
std::string scaling_csv(const std::vector<ScalingPoint>& points);

}  // namespace gdr::predict
