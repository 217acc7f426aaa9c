// Sums in twice the precision of a double, of what parts of the inner dimension give.
#pragma once

#include <cstddef>
#include <vector>

namespace gdr::dense {

/// Numbers that are added up in twice the precision of a double.
struct Sums {
  std::vector<double> high, low;
  void begin(std::size_t n) {
    high.assign(n, 0);
    low.assign(n, 0);
  }
  /// Exact but for the sum of what is left over (Knuth's two-sum); infinities stay what they are.
  void add(std::size_t i, double x) noexcept {
    const double sum = high[i] + x;
    const double part = sum - high[i];
    low[i] += (high[i] - (sum - part)) + (x - part);
    high[i] = sum;
  }
  double value(std::size_t i) const noexcept {
    const double sum = high[i] + low[i];
    return sum - sum == 0 ? sum : high[i];
  }
};

}  // namespace gdr::dense
