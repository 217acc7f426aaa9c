// Potentials of Hermite Gaussians at Hermite Gaussians, evaluated on a device.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "gdr/device.hpp"
#include "libgdr/chemistry/pairs.hpp"

namespace gdr::chemistry {

/// Sources of one angular momentum: charge distributions, by decreasing magnitude.
struct SourceList {
  std::vector<Point> centre;
  std::vector<double> exponent;
  std::vector<double> charge;     ///< hermite_count(l) Hermite coefficients of each
  std::vector<double> magnitude;  ///< sqrt((rho|rho)), descending; empty: no screening
  std::size_t size() const { return centre.size(); }
};

/// Targets of one angular momentum, by decreasing bound.
struct TargetList {
  std::vector<Point> centre;
  std::vector<double> exponent;
  std::vector<double> bound;      ///< sqrt((ab|ab)), descending; empty: no screening
  std::vector<double> potential;  ///< result: hermite_count(l) values of each
  std::size_t size() const { return centre.size(); }
};

/// Sources and targets by angular momentum.
using SourceLists = std::array<SourceList, max_pair + 1>;
using TargetLists = std::array<TargetList, max_pair + 1>;

/// Evaluates kernels on a device.
class Field {
 public:
  explicit Field(Device& device) : device_(&device) {}

  /// Sets the potentials of all targets. Interactions of a target are neglected whose sum is at
  /// most `neglect` by the Cauchy-Schwarz inequality. Collective on a device of many ranks.
  void evaluate(const SourceLists& sources, TargetLists& targets, double neglect);

  std::size_t interactions() const { return interactions_; }

 private:
  void evaluate_class(unsigned li, unsigned lj, const SourceList& sources, TargetList& targets,
                      double neglect);

  Device* device_;
  std::size_t interactions_ = 0;
};

}  // namespace gdr::chemistry
