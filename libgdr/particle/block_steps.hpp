// Block time steps: steps that are powers of two, and the criteria that choose them. Times and
// steps are in units of a cycle, the largest step, so that all sums of them are exact in a double.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace gdr {

/// Resolution of times: the shortest step of a cycle.
constexpr double shortest_block_step = 0x1p-40;

/// The largest power of two not above `step`, at most one cycle; 0 for NaN.
inline double round_down_to_block(double step) noexcept {
  if (step >= 1) return 1;
  if (!(step > 0)) return 0;
  int exponent = 0;
  std::frexp(step, &exponent);  // step = m 2^exponent with 1/2 <= m < 1
  return std::ldexp(1.0, exponent - 1);
}

/// Whether a time is a multiple of the step, a power of two.
inline bool commensurate(double time, double step) noexcept {
  const double quotient = time / step;  // exact
  return quotient == std::floor(quotient);
}

/// The step after `step`, which ended at `time`: at most that of the criterion, and at most
/// doubled, if the doubled one begins at a multiple of itself.
inline double next_block_step(double step, double time, double criterion) noexcept {
  if (criterion < step) return round_down_to_block(criterion);
  const double doubled = 2 * step;
  return criterion >= doubled && doubled <= 1 && commensurate(time, doubled) ? doubled : step;
}

/// Magnitudes of an acceleration and of its first three derivatives.
struct AccelerationNorms {
  double a, j, s, c;  ///< acceleration, jerk, snap, crackle
};

/// Sizes of the terms whose sums are an acceleration and its derivative, which cancel where the
/// sums are small.
struct TermSizes {
  double a = 0, j = 0;
};

/// Estimated from the potential and the mass of the other particles: the accelerations by Cauchy's
/// inequality, (sum m/r)^2 <= sum m * sum m/r^2; the derivative for velocities of the size of that
/// of escape.
inline TermSizes sizes_of_terms(double potential, double mass) noexcept {
  const double depth = std::abs(potential);
  if (!(depth > 0 && mass > 0)) return {};
  const double a = depth * (depth / mass);
  return {a, a * (a / std::sqrt(depth))};
}

/// The Aarseth criterion; infinite without a force. `rounding` has the magnitudes that roundings
/// alone may give to each derivative: a snap and a crackle within them do not shorten the step, and
/// an acceleration and a jerk count as at least as large.
inline double aarseth_step(const AccelerationNorms& n, const AccelerationNorms& rounding,
                           double eta) noexcept {
  const double s = n.s > rounding.s ? n.s : 0, c = n.c > rounding.c ? n.c : 0;
  const double a = std::max(n.a, rounding.a), j = std::max(n.j, rounding.j);
  const double change = n.j * c + s * s, size = a * s + j * j;
  if (change == 0 || size == 0) return std::numeric_limits<double>::infinity();
  return std::sqrt(eta * (size / change));
}

/// The first step, from acceleration, jerk and snap: eta |a| / |j|, at most sqrt(eta |a| / |a''|),
/// which alone limits that of particles at rest. Where the acceleration is within its rounding, eta
/// times the time scale of the terms, at most eta |j| / |a''|. Infinite without a force.
inline double first_step(const AccelerationNorms& n, const TermSizes& terms,
                         const AccelerationNorms& rounding, double eta) noexcept {
  const auto ratio = [](double x, double y) {
    return y == 0 ? std::numeric_limits<double>::infinity() : x / y;
  };
  if (n.a > rounding.a) return std::min(eta * ratio(n.a, n.j), std::sqrt(eta * ratio(n.a, n.s)));
  const double dynamical = eta * ratio(terms.a, terms.j);
  return n.j > rounding.j ? std::min(dynamical, eta * ratio(n.j, n.s)) : dynamical;
}

}  // namespace gdr
