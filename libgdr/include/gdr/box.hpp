// Periodic boxes, for sums within a cut-off (pairs.hpp) and neighbour lists (neighbours.hpp).
#pragma once

#include <array>
#include <cstddef>

namespace gdr {

/// A box that repeats along the vectors of its periodic directions. Vectors of other directions
/// have no effect.
struct PeriodicBox {
  std::array<std::array<double, 3>, 3> vectors{};
  std::array<bool, 3> periodic{true, true, true};

  /// A box with edges along the axes.
  static PeriodicBox orthorhombic(const std::array<double, 3>& lengths,
                                  const std::array<bool, 3>& periodic = {true, true, true}) {
    PeriodicBox box;
    for (std::size_t k = 0; k < 3; ++k) box.vectors[k][k] = lengths[k];
    box.periodic = periodic;
    return box;
  }
};

}  // namespace gdr
