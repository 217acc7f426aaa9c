// The leapfrog integrator (kick-drift-kick): second order, time-symmetric, symplectic.
#pragma once

#include <cstddef>
#include <vector>

#include "libgdr/io/snapshot.hpp"
#include "libgdr/nbody/forces.hpp"

namespace gdr {

/// The state of an integration: arrays of n three-vectors or n values.
struct Particles {
  std::vector<double> position, velocity, mass;
  std::vector<double> acceleration, potential;  ///< at `position`, after the forces were computed

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

}  // namespace gdr
