// The bottleneck of a job, and strong scaling: the same job on growing parts of a machine.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libgdr/predict/jobs.hpp"

namespace gdr::predict {

/// The prediction of a job on any machine.
using JobOn = std::function<Prediction(const Machine&)>;

/// A part of a machine: "chip" (with its ports and memory), "link", "host" or "network".
struct Gain {
  std::string_view part;
  double saved = 0;  ///< share of the time that is saved if only this part is twice as fast
};

/// All parts that the machine has, in that order, each from a prediction with this part twice as
/// fast: a resource may be busy all the time without being the bottleneck.
std::vector<Gain> gains(const Machine& machine, const JobOn& job, const Prediction& prediction);

/// The part that saves the most time; instead of "chip", "ports" if these are busier than the PEs.
/// "nothing" if no part saves time.
std::string_view bottleneck(const std::vector<Gain>& gains, const Prediction& prediction) noexcept;

struct ScalingPoint {
  std::size_t chips = 0, boards = 0, nodes = 0;  ///< chips of all nodes, boards per node, nodes
  Prediction prediction;
  std::string bottleneck;
  double speedup = 0;     ///< relative to the first point
  double efficiency = 0;  ///< speedup divided by the ratio of the numbers of chips
};

/// Predictions for 1, 2, 4, ... chips of a board, boards of a node and nodes, up to the whole
/// machine; with `from_nodes` for whole nodes only. Sizes that the job does not fit (Error of
/// category Usage) are left out; if no size fits, the error of the whole machine is thrown.
std::vector<ScalingPoint> strong_scaling(const Machine& machine, const JobOn& job, bool from_nodes);

/// Index of the last point before the efficiency falls below one half.
std::size_t last_that_pays(const std::vector<ScalingPoint>& points) noexcept;

/// The points as comma-separated values, with a line of names.
std::string scaling_csv(const std::vector<ScalingPoint>& points);

}  // namespace gdr::predict
