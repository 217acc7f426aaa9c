// The Hermite scheme to an accuracy: large blocks with trees, orbits, energies, restarts, errors.
#include <cmath>
#include <random>

#include "gdr/hermite.hpp"
#include "support/catch.hpp"
#include "support/expect_error.hpp"

namespace gdr::test {
namespace {

constexpr std::size_t count = 12000;
constexpr double softening = 0.02;

struct Sphere {
  std::vector<double> position, velocity, mass;
};

/// A sphere whose density falls with the distance, in rotation.
Sphere rotating_sphere() {
  std::mt19937_64 random(23);
  std::normal_distribution<double> normal;
  Sphere s;
  for (std::size_t i = 0; i < count; ++i) {
    const double spread = std::exp(0.7 * normal(random));
    const double x = spread * normal(random), y = spread * normal(random);
    s.position.insert(s.position.end(), {x, y, spread * normal(random)});
    s.velocity.insert(s.velocity.end(), {-0.3 * y, 0.3 * x, 0.2 * normal(random)});
    s.mass.push_back(1.0 / count);
  }
  return s;
}

HermiteOptions tree_options(double accuracy) {
  HermiteOptions o;
  o.eps = softening;
  o.largest_step = 1.0 / 16;
  o.accuracy = accuracy;
  return o;
}

Hermite integrator(Device& device, const Sphere& s, double accuracy) {
  return {device, count, s.position, s.velocity, s.mass, tree_options(accuracy)};
}

Device native_device() { return Device::open("emulator:engine=native,threads=1"); }

struct Places {
  std::vector<double> position = std::vector<double>(3 * count);
  std::vector<double> velocity = position;
};

Places places(const Hermite& h) {
  Places p;
  h.predict(p.position, p.velocity);
  return p;
}

double energy(Hermite& h, const Sphere& s) {
  const Places p = places(h);
  std::vector<double> potential(count);
  h.forces(nullptr, potential);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double* v = p.velocity.data() + 3 * i;
    sum += 0.5 * s.mass[i] * (potential[i] + v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  return sum;
}

/// Root of the mean square of the distances.
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(3 * sum / static_cast<double>(a.size()));
}

TEST_CASE("large blocks with trees have orbits and energies of direct sums, within the accuracy") {
  Device device = native_device();
  const Sphere s = rotating_sphere();
  Hermite direct = integrator(device, s, 0), trees = integrator(device, s, 3e-4);
  const double before = energy(trees, s);
  // Kinetic and potential energy, some 0.2, nearly cancel.
  CHECK(before == Approx(energy(direct, s)).margin(5e-6));
  direct.advance();
  trees.advance();
  const HermiteStatistics found = trees.statistics(), right = direct.statistics();
  CHECK(right.tree_steps == 0);
  CHECK(right.tree_error == 0);
  CHECK(found.tree_steps >= count);
  CHECK(found.tree_steps < found.particle_steps);
  CHECK(found.tree_error > 1e-6);
  CHECK(found.tree_error <= 3e-4);
  CHECK(found.tree_jerk_error > found.tree_error);
  // Errors of forces do not shorten the steps.
  const auto steps = static_cast<double>(right.particle_steps);
  CHECK(static_cast<double>(found.particle_steps) < 1.1 * steps);
  CHECK(static_cast<double>(found.particle_steps) > 0.7 * steps);
  CHECK(energy(trees, s) == Approx(before).margin(5e-6));
  const std::vector<double> end = places(direct).position;
  CHECK(distance(places(trees).position, end) < 1e-4 * distance(s.position, end));
}

TEST_CASE("a run with trees continues from a state with the same bits") {
  Device device = native_device();
  const Sphere s = rotating_sphere();
  Hermite whole = integrator(device, s, 3e-4);
  for (int k = 0; k < 9; ++k) whole.step();
  const HermiteState half = whole.state();
  CHECK(half.now > 0);
  CHECK(half.tree_degree > 0);
  CHECK(half.tree_theta > 0);
  Hermite rest(device, half, s.mass, tree_options(3e-4));
  CHECK(rest.state() == half);
  energy(rest, s);  // changes nothing
  whole.advance();
  rest.advance();
  CHECK(whole.state() == rest.state());
}

TEST_CASE("few particles have direct sums at any accuracy") {
  Device device = native_device();
  Sphere s = rotating_sphere();
  constexpr std::size_t few = 40;
  s.position.resize(3 * few);
  s.velocity.resize(3 * few);
  s.mass.resize(few);
  const auto end = [&](double accuracy) {
    Hermite h(device, few, s.position, s.velocity, s.mass, tree_options(accuracy));
    h.advance();
    CHECK(h.statistics().tree_steps == 0);
    return h.state();
  };
  const HermiteState a = end(1e-2), b = end(0);
  CHECK(a == b);
}

TEST_CASE("an accuracy that no tree has, and a state of no tree, are refused") {
  Device device = native_device();
  const std::vector<double> x = {0, 0, 0, 1, 0, 0}, v(6), m = {1, 1};
  for (const double wrong : {1.0, -1e-3, double(NAN)})
    expect_error(ErrorCategory::Input, {"accuracy must be"},
                 [&] { Hermite(device, 2, x, v, m, tree_options(wrong)); });
  HermiteState state = Hermite(device, 2, x, v, m, tree_options(1e-3)).state();
  state.tree_degree = 7;
  state.tree_theta = 0.5;
  expect_error(ErrorCategory::Input, {"degree 7 and theta 0.5"},
               [&] { Hermite(device, state, m, tree_options(1e-3)); });
  state.tree_degree = 0;
  expect_error(ErrorCategory::Input, {"degree 0"},
               [&] { Hermite(device, state, m, tree_options(1e-3)); });
}

}  // namespace
}  // namespace gdr::test
