#include "libgdr/nbody/leapfrog.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gdr {
namespace {

/// to += from * factor, element-wise.
void advance(std::vector<double>& to, const std::vector<double>& from, double factor) {
  for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k] * factor;
}

/// Neumaier summation: the rounding errors are summed and added at the end.
class CompensatedSum {
 public:
  void add(double value) noexcept {
    const double sum = sum_ + value;
    error_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
    sum_ = sum;
  }
  double value() const noexcept { return sum_ + error_; }

 private:
  double sum_ = 0, error_ = 0;
};

class VectorSum {
 public:
  void add(double factor, const Vector3& v) noexcept {
    for (std::size_t k = 0; k < 3; ++k) sums_[k].add(factor * v[k]);
  }
  Vector3 value() const noexcept { return {sums_[0].value(), sums_[1].value(), sums_[2].value()}; }

 private:
  std::array<CompensatedSum, 3> sums_;
};

Vector3 vector_of(const std::vector<double>& all, std::size_t i) {
  return {all[3 * i], all[3 * i + 1], all[3 * i + 2]};
}

Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double squared(const Vector3& v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

/// Radius about `centre` of the particle at which half of the mass is reached.
double half_mass_radius(const Particles& particles, const Vector3& centre, double mass) {
  std::vector<std::pair<double, double>> shells(particles.size());
  for (std::size_t i = 0; i < shells.size(); ++i)
    shells[i] = {squared(difference(vector_of(particles.position, i), centre)), particles.mass[i]};
  std::sort(shells.begin(), shells.end());
  double inside = 0;
  for (const auto& [r2, m] : shells) {
    inside += m;
    if (inside >= mass / 2) return std::sqrt(r2);
  }
  return 0;
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

ConservedQuantities diagnose(const Particles& particles) {
  CompensatedSum kinetic, potential, mass;
  VectorSum momentum, angular, moment;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const double m = particles.mass[i];
    const Vector3 x = vector_of(particles.position, i), v = vector_of(particles.velocity, i);
    kinetic.add(0.5 * m * squared(v));
    potential.add(0.5 * m * particles.potential[i]);
    mass.add(m);
    momentum.add(m, v);
    angular.add(m, cross(x, v));
    moment.add(m, x);
  }
  ConservedQuantities result;
  result.kinetic = kinetic.value();
  result.potential = potential.value();
  result.mass = mass.value();
  result.momentum = momentum.value();
  result.angular_momentum = angular.value();
  result.centre_of_mass = moment.value();
  if (result.mass != 0)
    for (double& x : result.centre_of_mass) x /= result.mass;
  result.half_mass_radius = half_mass_radius(particles, result.centre_of_mass, result.mass);
  return result;
}

double relative_change(double a, double b) noexcept {
  return b != 0 ? (a - b) / std::abs(b) : a - b;
}

double norm(const Vector3& v) noexcept { return std::sqrt(squared(v)); }

Vector3 difference(const Vector3& a, const Vector3& b) noexcept {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

}  // namespace gdr
