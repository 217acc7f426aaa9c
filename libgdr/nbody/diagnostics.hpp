// Conserved quantities of a set of particles: what tells whether an integration can be trusted.
#pragma once

#include <array>

#include "libgdr/nbody/leapfrog.hpp"

namespace gdr {

using Vector3 = std::array<double, 3>;

/// Sums over all particles, compensated, in a fixed order: the same bits for any number of threads.
struct Diagnostics {
  double kinetic = 0;    ///< sum of m v^2 / 2
  double potential = 0;  ///< sum of m phi / 2
  double mass = 0;
  Vector3 momentum{};           ///< sum of m v
  Vector3 angular_momentum{};   ///< sum of m x cross v
  Vector3 centre_of_mass{};     ///< sum of m x / sum of m
  double half_mass_radius = 0;  ///< about the centre of mass: a size, as energy alone does not
                                ///< catch a wrong sign

  double total() const noexcept { return kinetic + potential; }
  /// -2 T / W: 1 in equilibrium.
  double virial_ratio() const noexcept { return potential != 0 ? -2 * kinetic / potential : 0; }
};

/// Needs the potentials at the particles' positions.
Diagnostics diagnose(const Particles& particles);

/// (a - b) / |b|, or a - b where b is 0.
double relative_change(double a, double b) noexcept;
double norm(const Vector3& v) noexcept;
Vector3 difference(const Vector3& a, const Vector3& b) noexcept;

}  // namespace gdr
