// Numbers at which values are compared with reciprocals and reciprocal roots.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "emulator/engine/native/translate/lane_operations.hpp"

namespace gdr::native {

/// Exponent fields: 1 to the last one are numbers, the bias that of one.
constexpr unsigned last_exponent = 2046, exponent_bias = 1023;

/// Values of one node at some sample points, as bits.
using SampleRow = std::array<std::uint64_t, row_lanes>;

inline double number_at(const SampleRow& row, std::size_t lane) {
  return std::bit_cast<double>(row[lane]);
}

/// A row of x, with the factors that normalise values for the comparison with c: x for c/x,
/// sqrt|x| for c/sqrt(x).
struct SamplePoints {
  SampleRow x;
  std::array<double, row_lanes> recip, rsqrt;
};

/// Sample points of x.
struct IdiomDomain {
  enum Special : std::size_t { zero, minus_zero, infinity, minus_infinity, nan };

  /// First a quick test: both signs, both parities of the exponent, far from 1. Then every exponent
  /// with two mantissas and both signs, the mantissas all different; more mantissas at two
  /// exponents.
  std::vector<SamplePoints> points;
  SampleRow special{};  ///< numbers of Special, then ones
};

const IdiomDomain& idiom_domain();

}  // namespace gdr::native
