// Checks of coordinates that users pass as arrays (n, 3).
#pragma once

#include <cstddef>
#include <span>

namespace gdr {

/// The number of particles. Throws Error (Usage) unless there are three numbers for each.
std::size_t count_of_coordinates(const char* name, std::span<const double> x);

/// The same for finite coordinates: throws Error (Input) for the first number that is none, with
/// its particle.
std::size_t check_coordinates(const char* name, std::span<const double> x);

}  // namespace gdr
