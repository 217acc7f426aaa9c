// Which part of a machine a job waits for: what would help if it were faster.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "libgdr/predict/machine.hpp"
#include "libgdr/predict/usage.hpp"

namespace gdr::predict {

/// A job that can be asked for on any machine.
using JobOn = std::function<Prediction(const Machine&)>;

/// A part of a machine: chips with their ports and memories, the link, the host, the network.
struct Gain {
  std::string_view part;
  double saved = 0;  ///< of the time, if this part alone were twice as fast
};

/// All parts that the machine has, in that order. A resource may be busy all the time and not be
/// what is waited for; the difference in time tells.
std::vector<Gain> gains(const Machine& machine, const JobOn& job, const Prediction& prediction);

/// The part that gains most; of the chips, "ports" where these are busier than the PEs. "nothing"
/// if no part helps.
std::string_view bottleneck(const std::vector<Gain>& gains, const Prediction& prediction) noexcept;

}  // namespace gdr::predict
