// Sample points for idiom recognition: every exponent, both signs, infinities and NaN.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "emulator/engine/native/lane_operations.hpp"

namespace gdr::native {

/// Exponent fields: 1 to the last one are numbers, the bias that of one.
constexpr unsigned last_exponent = 2046, bias = 1023;

using Row = std::array<std::uint64_t, row_lanes>;

inline double number_at(const Row& row, std::size_t lane) {
  return std::bit_cast<double>(row[lane]);
}

/// Rows of x with the factors that normalise values for the comparison with c: x for c/x, sqrt|x|
/// for c/sqrt(x).
class Domain {
 public:
  static const Domain& all();

  struct Points {
    Row x;
    std::array<double, row_lanes> recip, rsqrt;
  };
  /// Points of a quick first test: both signs, both parities of the exponent, far from 1.
  const Points& first_look() const { return points_[0]; }
  /// Every exponent with two mantissas and both signs, the mantissas all different; more mantissas
  /// at two exponents.
  const std::vector<Points>& points() const { return points_; }
  /// +0, -0, both infinities, NaN, then ones.
  enum Special : std::size_t { zero, minus_zero, infinity, minus_infinity, nan };
  const Row& special() const { return special_; }

 private:
  Domain();
  std::uint64_t fraction();
  void add(bool negative, unsigned exponent, std::uint64_t fraction);

  std::vector<Points> points_;
  Row special_{};
  std::uint64_t golden_ = 0;
  std::size_t lane_ = 0;
};

}  // namespace gdr::native
