#include "emulator/engine/matmul/cpu/widen_floats.hpp"

#include <bit>

namespace gdr {

void widen_floats(const std::uint64_t* words, std::size_t n, std::uint64_t* doubles) noexcept {
  constexpr std::uint32_t exponent = 0x7f80'0000, sign = 0x8000'0000;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t half = 0; half < 2; ++half) {
      auto bits = static_cast<std::uint32_t>(words[i] >> 32 * half);
      if ((bits & exponent) == 0) bits &= sign;
      doubles[2 * i + half] = std::bit_cast<std::uint64_t>(double{std::bit_cast<float>(bits)});
    }
}

}  // namespace gdr
