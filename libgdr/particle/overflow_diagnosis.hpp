// Overflow diagnosis: identifies the particle that made a force overflow, for error messages.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace gdr {

/// Squares of distances to a particle with a larger coordinate may exceed the chip's range
/// (2^1023): (2 * 2^510)^2 * 3 is still within.
constexpr double max_coordinate = 0x1p510;

/// The first particle that is so distant that the forces on all others overflow. `position` holds
/// triples.
inline std::optional<std::size_t> find_far_particle(std::span<const double> position) {
  for (std::size_t k = 0; k < position.size(); ++k)
    if (std::abs(position[k]) > max_coordinate) return k / 3;
  return std::nullopt;
}

/// The part of an error message about that particle, called `what`; empty if there is none.
inline std::string describe_overflow(const char* what, std::span<const double> position) {
  const std::optional<std::size_t> far = find_far_particle(position);
  if (!far) return "";
  return std::string(what) + " " + std::to_string(*far) +
         " is too distant: squares of distances to it exceed the range of the chip's numbers; "
         "scale the units, or remove it";
}

}  // namespace gdr
