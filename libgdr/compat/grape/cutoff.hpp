// Gravity with a cut-off that the user gives as functions of the distance.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace gdr::compat::grape {

/// A function of R on [0, end), from a table with cubic interpolation (relative error below 1e-12
/// for functions that are smooth on the scale of end / 100); 0 from `end` on.
class Tabulated {
 public:
  Tabulated() = default;
  Tabulated(const std::function<double(double)>& f, double end);
  double operator()(double r) const noexcept;

 private:
  double end_ = 0, scale_ = 0;
  std::vector<double> values_;  ///< from one step before 0 to two steps behind the end
};

/// Factors of force and potential at R = r / eta.
struct Cutoff {
  Tabulated force, potential;
};

/// Particles of a sum: positions and masses, softening (squared).
struct CutoffParticles {
  std::span<const double[3]> x;
  std::span<const double> mass, eps2;
};

/// Acceleration and (positive) potential at x of all sources, on the host.
void add_with_cutoff(const Cutoff& cutoff, double eta, const CutoffParticles& sources,
                     const double x[3], double eps2, double acc[3], double& pot);

}  // namespace gdr::compat::grape
