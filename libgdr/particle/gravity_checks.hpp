// Checks of the arguments and results of gravity.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>

#include "gdr/tree.hpp"
#include "libgdr/device/core.hpp"
#include "libgdr/tree/gravity_tree.hpp"

namespace gdr {

/// eps^2 on the chip: zero only for eps = 0. Throws Error (Input).
double checked_square(double eps);

/// Throws Error (Input) for a particle that is so distant that squares of distances to it overflow,
/// and for two without softening that are so near that the square of their distance is below the
/// normal numbers, with which they would count as coincident.
void check_distances(const tree::GravityInput& in, unsigned threads);

/// Throws Error (Usage) for null pointers; `what` is the name of the particles.
void check_particle_pointers(std::size_t n, const double* position, const double* mass,
                             const char* what);

/// Throws Error (Input) naming the particle and coordinate that is not finite. Called after the job
/// rejected an array, whose message only names the variable.
void name_bad_particle(std::size_t n, const double* position, const double* mass, const char* what);

/// Positions that a result depends on, with their name for messages.
struct NamedPositions {
  const char* what;
  std::span<const double> position;
};

/// Throws Error (Input) for a result that is not finite; `each` values per particle.
void check_finite_results(std::size_t n, const double* values, std::size_t each, const char* what,
                          std::initializer_list<NamedPositions> positions, unsigned threads);

/// Whether all numbers of the arrays are finite.
bool all_finite(const tree::GravityInput& in, unsigned threads);

/// Whether a sum with these arguments has no errors but those of its results.
bool is_valid(const tree::GravityInput& in, unsigned threads);

/// TreeCosts::speed of the device's engine.
double engine_speed(const DeviceCore& core);

/// Executes steps as work of a device, which its interrupt cancels.
tree::HostSteps host_steps(DeviceCore& core);

}  // namespace gdr
