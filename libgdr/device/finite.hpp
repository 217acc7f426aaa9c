// Looking through many numbers for one that is not finite, at the speed of the memory.
#pragma once

#include <cstdint>
#include <type_traits>

namespace gdr {

/// Takes the bits of doubles or floats and remembers whether any was infinite or not a number.
/// Without a branch or a comparison: the exponent, one added to it, carries into the sign's place
/// if it was all ones. That every host can do on vectors.
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
