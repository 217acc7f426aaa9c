// Potentials of Hermite Gaussians at Hermite Gaussians, evaluated on a device.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "gdr/device.hpp"
#include "libgdr/chemistry/boys_fit.hpp"
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
  /// The targets of all evaluations with it are the same: they stay on the device.
  bool kept = false;
  std::size_t size() const { return centre.size(); }
};

/// Sources and targets by angular momentum.
using SourceLists = std::array<SourceList, max_pair + 1>;
using TargetLists = std::array<TargetList, max_pair + 1>;

/// Interactions of sources with targets, from first to before last.
struct Rectangle {
  std::size_t first_source, last_source, first_target, last_target;
  std::size_t area() const { return (last_source - first_source) * (last_target - first_target); }
};

/// Which results of which pair law, in which precision.
struct KernelKey {
  unsigned li, lj;
  std::size_t first, last;
  Accuracy accuracy;
  auto operator<=>(const KernelKey&) const = default;
};

/// Evaluates kernels on a device.
class Field {
 public:
  /// `call_cost`: number of interactions that cost as much as a job.
  Field(Device& device, std::size_t call_cost) : device_(&device), call_cost_(call_cost) {}

  /// Sets the potentials of all targets. `error`: bound on the error of a target's interactions,
  /// one half for neglected ones, whose sum is bounded by the Cauchy-Schwarz inequality, one half
  /// for those in shorts. Collective on a device of many ranks.
  void evaluate(const SourceLists& sources, TargetLists& targets, double error);

  std::size_t interactions() const { return interactions_; }
  std::size_t short_interactions() const { return short_interactions_; }

 private:
  void evaluate_class(unsigned li, unsigned lj, const SourceList& sources, TargetList& targets,
                      double error);
  /// Adds the potentials of rectangles; `charges`: the kernel's d of all sources.
  void run(const KernelKey& key, const SourceList& sources, std::span<const double> charges,
           TargetList& targets, std::span<const Rectangle> blocks);

  /// A job that is kept for the next evaluation, and the kept targets that it has.
  struct KeptJob {
    Job job;
    const TargetList* targets = nullptr;
    std::size_t first = 0, count = 0;
  };
  KeptJob& job_of(const KernelKey& key);

  Device* device_;
  std::map<KernelKey, KeptJob> jobs_;
  std::size_t call_cost_;
  std::size_t interactions_ = 0, short_interactions_ = 0;
};

}  // namespace gdr::chemistry
