// Vectorisable test of many numbers for infinities and NaN.
#pragma once

#include <cstdint>
#include <type_traits>

namespace gdr {

/// Accumulates over the bits of doubles or floats whether any was infinite or NaN. Without a branch
/// or a comparison: adding one to an exponent of all ones carries into the sign bit.
template <typename Number>
class FiniteTest {
 public:
  using Bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;

  void add(Bits number) noexcept { found_ |= (number & exponent) + one; }
  bool all_finite() const noexcept { return (found_ & sign) == 0; }
  static bool is_finite(Bits number) noexcept { return (number & exponent) != exponent; }

 private:
  static constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
  static constexpr Bits one = Bits{1} << (sizeof(Number) == 8 ? 52 : 23);
  static constexpr Bits exponent = sign - one;
  Bits found_ = 0;
};

}  // namespace gdr
