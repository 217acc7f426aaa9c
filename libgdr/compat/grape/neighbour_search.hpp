// Lists of sources within a radius of a target, found on the host: they may have any length, and do
// not depend on the device's arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gdr::compat::grape {

/// Coordinates of sources, one array for each.
using Coordinates = std::array<const double*, 3>;

/// Calls found(index) for the sources with (x_j - x)^2 + e2 < h2, in their order.
void find_within(const Coordinates& sources, std::size_t n, const std::array<double, 3>& x,
                 double e2, double h2, std::vector<std::uint32_t>& found);

/// The smaller of the squares of the distances of a source now and after a time dt, on straight
/// lines.
double distance2_soon(const Coordinates& sources, const Coordinates& velocities, std::size_t j,
                      const std::array<double, 3>& x, const std::array<double, 3>& v, double dt);

/// As above for sources on straight lines: those whose distance is less than the radius now or
/// after a time dt. Adds the squares of the distances next to the radius, the largest of the
/// sources that are found and the smallest of the others, to `inside` and `outside`.
struct Gap {
  double inside = 0, outside = 0;
};
Gap find_within_soon(const Coordinates& sources, const Coordinates& velocities, std::size_t n,
                     const std::array<double, 3>& x, const std::array<double, 3>& v, double dt,
                     double h2, std::vector<std::uint32_t>& found);

}  // namespace gdr::compat::grape
