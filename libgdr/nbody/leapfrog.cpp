#include "libgdr/nbody/leapfrog.hpp"

#include <utility>

namespace gdr {
namespace {

/// to += from * factor, element-wise.
void advance(std::vector<double>& to, const std::vector<double>& from, double factor) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k] * factor;
}

}  // namespace

Particles particles_of(const Snapshot& snapshot) {
  Particles particles;
  particles.position = snapshot.position;
  particles.velocity = snapshot.velocity;
  particles.mass = snapshot.mass;
  particles.acceleration.assign(3 * snapshot.size(), 0.0);
  particles.potential.assign(snapshot.size(), 0.0);
  return particles;
}

Leapfrog::Leapfrog(Particles& particles, ForceLaw forces)
    : particles_(particles), forces_(std::move(forces)) {
  forces_(particles_.position, particles_.mass, particles_.acceleration, particles_.potential);
}

void Leapfrog::step(double dt) {
  before_ = particles_;  // O(n) copies, negligible beside O(n^2) forces
  try {
    advance(particles_.velocity, particles_.acceleration, dt / 2);
    advance(particles_.position, particles_.velocity, dt);
    forces_(particles_.position, particles_.mass, particles_.acceleration, particles_.potential);
    advance(particles_.velocity, particles_.acceleration, dt / 2);
  } catch (...) {
    particles_ = before_;
    throw;
  }
}

}  // namespace gdr
