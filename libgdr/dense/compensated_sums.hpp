// Sums of partial products in twice the precision of a double.
#pragma once

#include <cstddef>
#include <vector>

namespace gdr::dense {

/// Sums in twice the precision of a double: high + low.
struct CompensatedSums {
  std::vector<double> high, low;
  void begin(std::size_t n) {
    high.assign(n, 0);
    low.assign(n, 0);
  }
};

/// Adds x[i] to n sums. Exact except for the sum of the rounding errors (Knuth's two-sum);
/// infinities are preserved.
inline void add_to_sums(double* high, double* low, const double* x, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const double sum = high[i] + x[i];
    const double part = sum - high[i];
    low[i] += (high[i] - (sum - part)) + (x[i] - part);
    high[i] = sum;
  }
}

/// The sums as doubles.
inline void round_sums(const double* high, const double* low, std::size_t n, double* to) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const double sum = high[i] + low[i];
    to[i] = sum - sum == 0 ? sum : high[i];
  }
}

}  // namespace gdr::dense
