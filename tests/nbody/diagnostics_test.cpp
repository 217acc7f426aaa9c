// Conserved quantities of configurations with known values.
#include "libgdr/nbody/leapfrog.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

TEST_CASE("conserved quantities of two particles are correct") {
  Particles p;
  p.mass = {1, 3};
  p.position = {4, 0, 0, 0, 0, 0};
  p.velocity = {0, 2, 0, 0, 0, 1};
  p.potential = {-0.75, -0.25};
  const ConservedQuantities d = diagnose(p);
  CHECK(d.kinetic == 0.5 * 1 * 4 + 0.5 * 3 * 1);
  CHECK(d.potential == -0.75);  // each pair once: - m1 m2 / r
  CHECK(d.total() == 3.5 - 0.75);
  CHECK(d.mass == 4);
  CHECK(d.momentum == Vector3{0, 2, 3});
  CHECK(d.angular_momentum == Vector3{0, 0, 8});
  CHECK(d.centre_of_mass == Vector3{1, 0, 0});
  CHECK(d.half_mass_radius == 1);
  CHECK(d.virial_ratio() == Approx(2 * 3.5 / 0.75));
}

TEST_CASE("sums are compensated") {
  Particles p;
  p.mass.assign(3, 1);
  p.position.assign(9, 0);
  p.potential.assign(3, 0);
  p.velocity = {1e17, 0, 0, 1, 0, 0, -1e17, 0, 0};
  CHECK(diagnose(p).momentum[0] == 1);
}

TEST_CASE("massless particles give finite diagnostics") {
  Particles p;
  p.mass = {0};
  p.position = {1, 1, 1};
  p.velocity = {1, 1, 1};
  p.potential = {0};
  const ConservedQuantities d = diagnose(p);
  CHECK(d.centre_of_mass == Vector3{0, 0, 0});
  CHECK(d.virial_ratio() == 0);
  CHECK(relative_change(2, 0) == 2);
  CHECK(relative_change(-3, -2) == -0.5);
}

}  // namespace
}  // namespace gdr::test
