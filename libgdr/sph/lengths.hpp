// Smoothing lengths: limits for lists of pairs, and first estimates.
#pragma once

#include <span>
#include <vector>

namespace gdr::sph {

/// Limits a tenth above smoothing lengths, for which lists of pairs serve until a length is more
/// than its limit, or much less.
class LengthLimits {
 public:
  /// Whether the limits serve for these lengths.
  bool serve(std::span<const double> h) const;
  /// Makes limits for these lengths.
  void renew(std::span<const double> h);
  const std::vector<double>& values() const noexcept { return limits_; }

 private:
  std::vector<double> limits_;
};

/// A first estimate of smoothing lengths, eta (mass / density)^(1/3) with the densities in cells of
/// some 30 particles each.
std::vector<double> estimate_lengths(std::span<const double> pos, std::span<const double> mass,
                                     double eta);

}  // namespace gdr::sph
