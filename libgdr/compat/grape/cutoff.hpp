// Gravity with a cut-off that the user gives as functions of the distance.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace gdr::compat::grape {

/// A function of R on (0, end), from a table of polynomials; 0 from `end` on. Each polynomial
/// interpolates within an interval of its own, so that a jump affects one of them only; intervals
/// are halved until polynomials reproduce the function to 1e-13 of its size there, at most down to
/// 3e-14 of `end`. The relative error is below 1e-12 for functions that are smooth but for some
/// jumps, kinks and singular ends, and near a jump values lie between those beside it. What
/// remains inaccurate when the table is full, as of functions with noise, is interpolated linearly
/// between samples.
class Tabulated {
 public:
  Tabulated() = default;
  /// The function is not called at 0 and `end`, nor after the construction. Throws Error (Input) if
  /// it is not finite.
  Tabulated(const std::function<double(double)>& f, double end);
  double operator()(double r) const noexcept;

  /// Coefficients of powers of t, which is -1 to 1 in an interval.
  using Polynomial = std::array<double, 8>;

 private:
  struct Piece {
    double begin = 0, centre = 0, inverse = 0;  ///< t = (R - centre) * inverse
    Polynomial polynomial{};
  };
  /// Pieces of a cell that has more than one.
  struct Refined {
    std::uint32_t first = 0, count = 0;
  };
  double refined(double r, const Refined& cell) const noexcept;

  double end_ = 0, scale_ = 0;
  std::vector<Polynomial> cells_;  ///< cells of equal lengths
  std::vector<Refined> refined_;   ///< refinement of each cell
  std::vector<Piece> pieces_;
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

/// Acceleration at x of all sources by a law of the plain distance r: the sum of mass law(r) d,
/// where d is the difference of positions. On the host.
void add_by_law(const Tabulated& law, const CutoffParticles& sources, const double x[3],
                double acc[3]);

/// The force between two particles over the distance r, for masses of 1, if both are spheres with
/// the density of shape S2 and the diameter `a`: a density that falls linearly from the centre to 0
/// (R. W. Hockney and J. W. Eastwood, Computer Simulation Using Particles, 1981, section 8-3).
/// 1/r^3 from r = a on.
double s2_force_over_distance(double a, double r) noexcept;

}  // namespace gdr::compat::grape
