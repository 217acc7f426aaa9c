// Comparison of numbers by their bits: a NaN equals itself, and +0 differs from -0.
#pragma once

#include <cstring>
#include <vector>

namespace gdr::test {

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

}  // namespace gdr::test
