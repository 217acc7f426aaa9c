// Block time steps: steps that are powers of two, and the criteria that choose them. Times and
// steps are in units of a cycle, the largest step, so that all sums of them are exact in a double.
#pragma once

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

/// The Aarseth criterion; infinite without a force.
inline double aarseth_step(const AccelerationNorms& n, double eta) noexcept {
  const double change = n.j * n.c + n.s * n.s, size = n.a * n.s + n.j * n.j;
  if (change == 0 || size == 0) return std::numeric_limits<double>::infinity();
  return std::sqrt(eta * (size / change));
}

/// The first step, without higher derivatives: infinite for a constant force.
inline double first_step(double acceleration, double jerk, double eta) noexcept {
  return jerk == 0 ? std::numeric_limits<double>::infinity() : eta * acceleration / jerk;
}

}  // namespace gdr
