// Rational approximations of the Boys functions.
#pragma once

#include <span>

namespace gdr::chemistry {

/// F_m(T) (T + c)^(m + 1/2) = P(u)/Q(u) for all T >= 0, with u = 2 c/(T + c) - 1 in (-1, 1].
/// Coefficients of powers of u, from the constant on; Q begins with 1.
struct BoysFit {
  double c;
  std::span<const double> p, q;
};

/// Precision of a kernel: longs, or distances in longs and all else in shorts.
enum class Accuracy { Long, Short };

/// The approximation for m = 0 to 8. Its relative error is below 1e-13 for longs, 1.5e-8 for
/// shorts. The coefficients minimise the relative error on Chebyshev points of u by weighted least
/// squares; fit_boys.py computes them.
const BoysFit& boys_fit(unsigned m, Accuracy accuracy);

}  // namespace gdr::chemistry
