// Who is to blame for a force that is not finite: messages name him.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace gdr {

/// The first particle that stands so far out that the square of a distance to it is beyond 2^1023,
/// the chip's largest power: then the forces on all others overflow, and naming the first of them
/// would mislead. `position` holds triples.
inline std::optional<std::size_t> find_far_particle(std::span<const double> position) {
  constexpr double limit = 0x1p510;  // (2 * 2^510)^2 * 3 is still in range
  for (std::size_t k = 0; k < position.size(); ++k)
    if (std::abs(position[k]) > limit) return k / 3;
  return std::nullopt;
}

/// What a message says of that particle, called `what`; empty where there is none.
inline std::string describe_overflow(const char* what, std::span<const double> position) {
  const std::optional<std::size_t> far = find_far_particle(position);
  if (!far) return "";
  return std::string(what) + " " + std::to_string(*far) +
         " stands so far out that squares of distances to it leave the range of the chip's "
         "numbers; scale the units, or take it out";
}

}  // namespace gdr
