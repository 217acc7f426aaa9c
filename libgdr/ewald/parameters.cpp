// Kolafa and Perram 1992, Mol. Simul. 9, 351, for charges at random places; lengths in units of the
// mean distance, charges in units of their root mean square. With s = alpha cutoff:
//
//   forces    real: 2 / sqrt(cutoff) exp(-s^2)
//             wave: alpha sqrt(8 / k) exp(-k^2 / (4 alpha^2))
//   energies  real: sqrt(cutoff) / (2 s^2) exp(-s^2)
//             wave: 2 alpha^2 / (pi k) exp(-k^2 / (4 alpha^2)), that of each charge with itself
#include "libgdr/ewald/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "gdr/error.hpp"

namespace gdr::ewald {
namespace {

/// Both parts together reach the accuracy with some reserve.
constexpr double share_of_part = 1.0 / 3;
/// Exponents of the parts, s^2 = (alpha cutoff)^2 and (k / (2 alpha))^2, are between the squares of
/// these.
constexpr double min_s = 0.05, max_s = 30;
/// Time of a pair of the part in real space, relative to a term of the sums over waves (both of
/// them), and how far lists reach beyond the cut-off, in mean distances.
constexpr double pair_cost = 6, list_margin = 1.5;

/// The argument at which a decreasing function falls to a value.
template <typename Function>
double solve(double low, double high, double value, const Function& f) {
  for (int k = 0; k < 60; ++k) {
    const double middle = std::sqrt(low * high);
    (f(middle) > value ? low : high) = middle;
  }
  return high;
}

double cutoff_for(double alpha, double error) {
  return solve(min_s / alpha, max_s / alpha, error,
               [&](double cutoff) { return real_error(alpha, cutoff); });
}

double wave_cutoff_for(double alpha, double error) {
  return solve(2 * alpha * min_s, 2 * alpha * max_s, error,
               [&](double k) { return wave_error(alpha, k); });
}

/// Pairs and terms of each particle, in units of the time of a term.
double cost(std::size_t n, const Division& d) {
  const double reach = d.cutoff + list_margin, k = d.wave_cutoff;
  const double pairs = 4 * std::numbers::pi / 3 * reach * reach * reach;
  const double waves =
      static_cast<double>(n) * k * k * k / (12 * std::numbers::pi * std::numbers::pi);
  return pair_cost * pairs + waves;
}

}  // namespace

double real_error(double alpha, double cutoff) {
  const double s2 = alpha * alpha * cutoff * cutoff;
  return std::exp(-s2) * std::max(2 / std::sqrt(cutoff), std::sqrt(cutoff) / (2 * s2));
}

double wave_error(double alpha, double wave_cutoff) {
  const double k = wave_cutoff;
  return std::exp(-k * k / (4 * alpha * alpha)) *
         std::max(alpha * std::sqrt(8 / k), 2 * alpha * alpha / (std::numbers::pi * k));
}

Division divide(std::size_t n, const EwaldOptions& options) {
  if (!(options.accuracy > 0 && options.accuracy < 1))
    throw Error(
        ErrorCategory::Input,
        fmt::format("accuracy is {}; expected a number above 0 and below 1", options.accuracy));
  const double error = share_of_part * options.accuracy;
  const auto completed = [&](double alpha) {
    Division d{alpha, options.cutoff, options.wave_cutoff};
    if (d.cutoff == 0) d.cutoff = cutoff_for(alpha, error);
    if (d.wave_cutoff == 0) d.wave_cutoff = wave_cutoff_for(alpha, error);
    return d;
  };
  if (options.alpha > 0) return completed(options.alpha);
  if (options.cutoff > 0)
    return completed(solve(min_s / options.cutoff, max_s / options.cutoff, error,
                           [&](double alpha) { return real_error(alpha, options.cutoff); }));
  Division best;
  double least = std::numeric_limits<double>::infinity();
  for (double alpha = 0.01; alpha < 20; alpha *= 1.05) {
    const Division d = completed(alpha);
    if (!(cost(n, d) < least)) continue;
    least = cost(n, d);
    best = d;
  }
  return best;
}

}  // namespace gdr::ewald
