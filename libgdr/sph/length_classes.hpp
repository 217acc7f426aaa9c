// Particles divided into classes of similar smoothing lengths.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace gdr::sph {

struct LengthClass {
  double longest = 0;                ///< the longest length that it allows
  std::vector<std::size_t> members;  ///< numbers of its particles
};

/// Classes for lengths up to a tenth longer than those given, until one is more than that.
class LengthClasses {
 public:
  /// Makes new classes if the lengths have outgrown their limits, or have become much shorter.
  void follow(std::span<const double> h);
  /// The limit of each particle's length.
  const std::vector<double>& limits() const noexcept { return limits_; }
  const std::vector<LengthClass>& classes() const noexcept { return classes_; }

 private:
  bool serve(std::span<const double> h) const;

  std::vector<double> limits_;
  std::vector<LengthClass> classes_;
};

/// A first estimate of smoothing lengths, eta (mass / density)^(1/3) with the densities in cells of
/// some 30 particles each.
std::vector<double> estimate_lengths(std::span<const double> pos, std::span<const double> mass,
                                     double eta);

}  // namespace gdr::sph
