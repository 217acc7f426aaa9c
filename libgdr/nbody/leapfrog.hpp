// The leapfrog integrator (kick-drift-kick): second order, time-symmetric, symplectic; and
// conserved quantities to check an integration.
#pragma once

#include <array>
#include <vector>

#include "libgdr/io/snapshot.hpp"
#include "libgdr/nbody/forces.hpp"

namespace gdr {

/// The state of an integration: arrays of n three-vectors or n values.
struct Particles {
  std::vector<double> position, velocity, mass;
  std::vector<double> acceleration,
      potential;  ///< values at `position`, after the forces were computed

  std::size_t size() const noexcept { return mass.size(); }
};

/// The particles of a snapshot, without forces.
Particles particles_of(const Snapshot& snapshot);

/// Integrates particles under a force law. The state between steps is position and velocity, and
/// forces depend only on positions: a run restarted from a snapshot is bit-identical to an
/// uninterrupted one.
class Leapfrog {
 public:
  /// Computes the initial forces.
  Leapfrog(Particles& particles, ForceLaw forces);
  /// One step of length dt: v += a dt/2; x += v dt; a = f(x); v += a dt/2. If the force law
  /// throws, the particles are restored.
  void step(double dt);

 private:
  Particles& particles_;
  ForceLaw forces_;
  Particles before_;
};

using Vector3 = std::array<double, 3>;

/// Compensated sums over all particles in a fixed order: bit-identical for any number of threads.
struct ConservedQuantities {
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
ConservedQuantities diagnose(const Particles& particles);

/// (a - b) / |b|, or a - b if b is 0.
double relative_change(double a, double b) noexcept;
double norm(const Vector3& v) noexcept;
Vector3 difference(const Vector3& a, const Vector3& b) noexcept;

}  // namespace gdr
