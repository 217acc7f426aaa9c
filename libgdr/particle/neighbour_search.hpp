// Lists of sources within a radius of a target, found on the host or chosen there from those of a
// device: they do not depend on the device's arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gdr {

/// Coordinates of sources, one array for each.
using Coordinates = std::array<const double*, 3>;

/// Adds the numbers of the sources with (x_j - x)^2 + e2 < h2 to `found`, in their order.
void find_within(const Coordinates& sources, std::size_t n, const std::array<double, 3>& x,
                 double e2, double h2, std::vector<std::uint32_t>& found);

/// Writes the numbers of those of n sources, from `first` on, whose distance to a box, low to high,
/// is below the radius; returns how many. Rounding loses no source within the radius of a point of
/// the box.
std::size_t choose_near(const Coordinates& sources, std::size_t first, std::size_t n,
                        const std::array<double, 3>& low, const std::array<double, 3>& high,
                        double h2, std::uint32_t* near);

/// Adds the numbers of the sources with ((x_j - x) + shift_j)^2 < h2 to `found`, in their order.
void find_shifted(const Coordinates& sources, const Coordinates& shifts, std::size_t n,
                  const std::array<double, 3>& x, double h2, std::vector<std::uint32_t>& found);

/// Those of some sources, given by their numbers.
void choose_within(const Coordinates& sources, std::span<const std::int64_t> candidates,
                   const std::array<double, 3>& x, double e2, double h2,
                   std::vector<std::uint32_t>& found);

/// The square of a radius within which a device finds all sources with (x_j - x)^2 < h2, and a few
/// more, whether it computes in doubles, longs or floats. 0 if there are none; negative for spheres
/// that are too large for a device.
double device_radius2(const std::array<double, 3>& x, double h2);

/// The smaller of the squares of the distances of a source now and after a time dt, on straight
/// lines.
double distance2_soon(const Coordinates& sources, const Coordinates& velocities, std::size_t j,
                      const std::array<double, 3>& x, const std::array<double, 3>& v, double dt);

/// As above for sources on straight lines: those whose distance is less than the radius now or
/// after a time dt. Adds the squares of the distances next to the radius, the largest of the
/// sources that are found and the smallest of the others, to `inside` and `outside`. With `scale`
/// the square of the radius for source j is scale[j] h2, and these squares are divided by scale[j].
struct Gap {
  double inside = 0, outside = 0;
};
Gap find_within_soon(const Coordinates& sources, const Coordinates& velocities, std::size_t n,
                     const std::array<double, 3>& x, const std::array<double, 3>& v, double dt,
                     double h2, std::vector<std::uint32_t>& found, const double* scale = nullptr);

}  // namespace gdr
