// Leapfrog: orbits, order of convergence, time symmetry.
#include "libgdr/nbody/leapfrog.hpp"

#include <cmath>
#include <numbers>

#include "gdr/error.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

/// Two bodies of mass 1/2 on an ellipse of semi-major axis 1 and eccentricity e, at apocentre, G =
/// 1: the period is 2 pi.
Particles elliptic_orbit(double e) {
  Particles p;
  p.mass = {0.5, 0.5};
  const double r = 1 + e, v = std::sqrt((1 - e) / (1 + e));
  p.position = {r / 2, 0, 0, -r / 2, 0, 0};
  p.velocity = {0, v / 2, 0, 0, -v / 2, 0};
  p.acceleration.assign(6, 0);
  p.potential.assign(2, 0);
  return p;
}

/// Distance of the first body from its initial position after one period in `steps` steps.
double error_after_period(double e, int steps) {
  Particles p = elliptic_orbit(e);
  const Particles begin = p;
  Leapfrog leapfrog(p, host_forces(0));
  for (int k = 0; k < steps; ++k) leapfrog.step(2 * std::numbers::pi / steps);
  return std::hypot(p.position[0] - begin.position[0], p.position[1] - begin.position[1]);
}

TEST_CASE("a Kepler orbit closes to second order in the step") {
  const double coarse = error_after_period(0.5, 1000), fine = error_after_period(0.5, 2000);
  CHECK(fine < 1e-4);
  CHECK(coarse / fine == Approx(4).epsilon(0.01));
}

TEST_CASE("energy and angular momentum of a Kepler orbit are correct") {
  Particles p = elliptic_orbit(0.5);
  Leapfrog leapfrog(p, host_forces(0));
  const ConservedQuantities begin = diagnose(p);
  // E = - m1 m2 / (2 a); L = mu sqrt(G M a (1 - e^2)), reduced mass mu = 1/4.
  CHECK(begin.total() == Approx(-0.125).epsilon(1e-14));
  CHECK(begin.angular_momentum[2] == Approx(0.25 * std::sqrt(0.75)).epsilon(1e-14));
  double largest = 0;
  for (int k = 0; k < 5000; ++k) {
    leapfrog.step(2 * std::numbers::pi / 500);
    const ConservedQuantities now = diagnose(p);
    largest = std::max(largest, std::abs(relative_change(now.total(), begin.total())));
    CHECK(now.angular_momentum[2] == Approx(begin.angular_momentum[2]).epsilon(1e-12));
  }
  // Symplectic: the error oscillates with the orbit and does not grow over ten of them.
  CHECK(largest < 1e-3);
  CHECK(largest > 1e-6);
  CHECK(std::abs(relative_change(diagnose(p).total(), begin.total())) < 1e-5);
}

TEST_CASE("backward steps undo forward steps") {
  Particles p = elliptic_orbit(0.3);
  const Particles begin = p;
  Leapfrog leapfrog(p, host_forces(0.1));
  for (int k = 0; k < 300; ++k) leapfrog.step(0.01);
  CHECK(std::abs(p.position[0] - begin.position[0]) > 0.1);
  for (int k = 0; k < 300; ++k) leapfrog.step(-0.01);
  for (std::size_t k = 0; k < 6; ++k) {
    CHECK(p.position[k] == Approx(begin.position[k]).margin(1e-13));
    CHECK(p.velocity[k] == Approx(begin.velocity[k]).margin(1e-13));
  }
}

TEST_CASE("a step with failing forces leaves the particles unchanged") {
  Particles p = elliptic_orbit(0.3);
  int calls = 0;
  const ForceLaw host = host_forces(0.1);
  Leapfrog leapfrog(p, [&](auto x, auto m, auto a, auto phi) {
    if (++calls == 4) throw Error(ErrorCategory::Device, "gone");
    host(x, m, a, phi);
  });
  leapfrog.step(0.01);
  leapfrog.step(0.01);
  const Particles before = p;
  CHECK_THROWS_AS(leapfrog.step(0.01), Error);
  CHECK(p.position == before.position);
  CHECK(p.velocity == before.velocity);
  CHECK(p.acceleration == before.acceleration);
  Particles again = before;
  leapfrog.step(0.01);  // the step can be repeated
  Leapfrog other(again, host);
  other.step(0.01);
  CHECK(p.position == again.position);
}

}  // namespace
}  // namespace gdr::test
