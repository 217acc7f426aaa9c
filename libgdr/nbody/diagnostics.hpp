// Conserved quantities of a set of particles, to check an integration.
#pragma once

#include <array>

#include "libgdr/nbody/leapfrog.hpp"

namespace gdr {

using Vector3 = std::array<double, 3>;

/// Compensated sums over all particles in a fixed order: bit-identical for any number of threads.
struct Diagnostics {
  double kinetic = 0;    ///< sum of m v^2 / 2
  double potential = 0;  ///< sum of m phi / 2
  double mass = 0;
  Vector3 momentum{};           ///< sum of m v
  Vector3 angular_momentum{};   ///< sum of m x cross v
  Vector3 centre_of_mass{};     ///< sum of m x / sum of m
  double half_mass_radius = 0;  ///< about the centre of mass

  double total() const noexcept { return kinetic + potential; }
  /// -2 T / W: 1 in equilibrium.
  double virial_ratio() const noexcept { return potential != 0 ? -2 * kinetic / potential : 0; }
};

/// Requires the potentials at the particles' positions.
Diagnostics diagnose(const Particles& particles);

/// (a - b) / |b|, or a - b if b is 0.
double relative_change(double a, double b) noexcept;
double norm(const Vector3& v) noexcept;
Vector3 difference(const Vector3& a, const Vector3& b) noexcept;

}  // namespace gdr
