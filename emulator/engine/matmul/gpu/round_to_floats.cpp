#include "emulator/engine/matmul/gpu/round_to_floats.hpp"

#include <cmath>
#include <limits>

namespace gdr {

bool round_to_floats(const double* from, std::size_t n, float* to) {
  constexpr double most = std::numeric_limits<float>::max();
  constexpr double least = std::numeric_limits<float>::min();
  constexpr double infinite = std::numeric_limits<double>::infinity();
  bool outside = false;
  for (std::size_t i = 0; i < n; ++i) {
    const double size = std::fabs(from[i]);
    outside |= (size > most) & (size < infinite);
    outside |= (size < least) & (size >= std::numeric_limits<double>::min());
    to[i] = static_cast<float>(from[i]);
  }
  return !outside;
}

}  // namespace gdr
