// The time that sums of a kernel will take, before they are computed.
//
//   const gdr::Estimate e =
//       gdr::estimate(device, gdr::Kernel::builtin("gravity"), {.targets = n, .sources = n});
//   if (e.seconds > 60) ...
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "gdr/device.hpp"
#include "gdr/kernel.hpp"

namespace gdr {

/// A call whose time is wanted.
struct EstimateCall {
  std::size_t targets = 0, sources = 0;
  /// That of a tree: of accelerations (gdr::Gravity) for the kernel "gravity", of results (TreeSum)
  /// for others. 0: direct sums.
  double accuracy = 0;
  /// Params of the kernel, by name or by the name of an element of an array; 1 for those that are
  /// not here.
  std::vector<std::pair<std::string, double>> params = {};
};

/// The expected time of a call. Its inputs are random numbers here, particles of a Plummer sphere
/// for trees: a kernel that skips many pairs takes less.
struct Estimate {
  double seconds = 0;  ///< expected time
  /// Bounds of the time while the host is as busy as now: the smallest and the largest of the
  /// measured times, scaled to the call. Where it is larger than what was measured, they are wider
  /// by 15 and 25 %; those of trees by factors of 2, as times depend on where the particles are.
  double low = 0, high = 0;
  double pairs = 0;      ///< pairs of a target and a source
  bool tree = false;     ///< whether a tree is faster than direct sums at this accuracy
  double measuring = 0;  ///< time that this estimate took, seconds
};

/// The time that a job's run takes, with the conversion of its arrays, or a sum with a tree: from
/// runs of this kernel on this device with growing numbers of particles, which take
/// about 0.2 s, 0.8 s with a tree, and less if the call does. Measured times are kept in the
/// process for a minute: further estimates for the same kernel, params and device then measure
/// nothing. The runs are in the device's statistics and timeline, as all others.
///
/// Throws Error: Usage for an unknown param, and an accuracy that is negative or not below 1;
/// Unsupported for a device of several ranks, and with an accuracy for a kernel that TreeSum does
/// not take; others as Job::run.
Estimate estimate(Device& device, const Kernel& kernel, const EstimateCall& call);

}  // namespace gdr
