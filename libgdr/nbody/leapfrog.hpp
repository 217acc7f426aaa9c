// The leapfrog integrator (kick, drift, kick): second order, time-symmetric, symplectic.
#pragma once

#include <cstddef>
#include <vector>

#include "libgdr/io/snapshot.hpp"
#include "libgdr/nbody/forces.hpp"

namespace gdr {

/// The state that is integrated, as plain arrays: n triples, or n values.
struct Particles {
  std::vector<double> position, velocity, mass;
  std::vector<double> acceleration, potential;  ///< at `position`, once forces were computed

  std::size_t size() const noexcept { return mass.size(); }
};

/// The particles of a snapshot, with no forces yet.
Particles particles_of(const Snapshot& snapshot);

/// Integrates particles under a force law. Nothing but position and velocity goes from one step to
/// the next, and forces depend on positions alone: so a run from a snapshot has the same bits as
/// one that was never interrupted.
class Leapfrog {
 public:
  /// Computes the forces at the start.
  Leapfrog(Particles& particles, ForceLaw forces);
  /// One step of length dt: v += a dt/2; x += v dt; a = f(x); v += a dt/2. If the forces throw,
  /// the particles are as they were before the step.
  void step(double dt);

 private:
  Particles& particles_;
  ForceLaw forces_;
  Particles before_;
};

}  // namespace gdr
