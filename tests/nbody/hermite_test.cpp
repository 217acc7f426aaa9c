// The Hermite scheme: order of convergence, energies, structure of the blocks, restarts, errors.
#include "gdr/hermite.hpp"

#include <cmath>
#include <numbers>
#include <random>

#include "libgdr/io/snapshot.hpp"
#include "libgdr/particle/block_steps.hpp"
#include "support/expect_error.hpp"

namespace gdr::test {
namespace {

struct Stars {
  std::vector<double> position, velocity, mass;
  std::size_t size() const { return mass.size(); }
};

/// Two bodies of mass 1/2 on an ellipse of semi-major axis 1, at apocentre: the period is 2 pi.
Stars ellipse(double e) {
  const double r = 1 + e, v = std::sqrt((1 - e) / (1 + e));
  return {{r / 2, 0, 0, -r / 2, 0, 0}, {0, v / 2, 0, 0, -v / 2, 0}, {0.5, 0.5}};
}

Stars plummer(std::size_t n) {
  const Snapshot s = read_snapshot(GDR_SOURCE_DIR "/examples/data/plummer_1024.hdf5");
  Stars stars{s.position, s.velocity, s.mass};
  stars.position.resize(3 * n);
  stars.velocity.resize(3 * n);
  stars.mass.assign(n, 1.0 / static_cast<double>(n));
  return stars;
}

Hermite integrator(Device& device, const Stars& s, const HermiteOptions& options) {
  return {device, s.size(), s.position.data(), s.velocity.data(), s.mass.data(), options};
}

HermiteOptions options(double eps, double largest_step = 1.0 / 16) {
  HermiteOptions o;
  o.eps = eps;
  o.largest_step = largest_step;
  return o;
}

Device native() { return Device::open("emulator:engine=native,threads=1"); }

double energy(Hermite& h, const std::vector<double>& mass) {
  std::vector<double> x(3 * mass.size()), v(3 * mass.size()), potential(mass.size());
  h.predict(x.data(), v.data());
  h.forces(nullptr, potential.data());
  double sum = 0;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    sum += 0.5 * mass[i] * potential[i];
    for (std::size_t k = 0; k < 3; ++k) sum += 0.5 * mass[i] * v[3 * i + k] * v[3 * i + k];
  }
  return sum;
}

/// Distance of the first body from its initial position after one period in equal steps.
double error_after_period(Device& device, double e, int steps) {
  const Stars stars = ellipse(e);
  HermiteOptions o = options(0, 2 * std::numbers::pi / steps);
  o.eta = o.eta_start = 1e6;  // no step is shorter than the largest
  Hermite h = integrator(device, stars, o);
  for (int k = 0; k < steps; ++k) CHECK(h.step());
  std::vector<double> x(6), v(6);
  h.predict(x.data(), v.data());
  return std::hypot(x[0] - stars.position[0], x[1] - stars.position[1]);
}

TEST_CASE("with equal steps a Kepler orbit closes to fourth order in the step") {
  Device device = native();
  const double coarse = error_after_period(device, 0.3, 400);
  const double fine = error_after_period(device, 0.3, 800);
  CHECK(fine < 1e-6);
  CHECK(coarse / fine == Approx(16).epsilon(0.1));
}

TEST_CASE("an eccentric binary keeps energy and angular momentum for fifty orbits") {
  Device device = native();
  const Stars stars = ellipse(0.9);
  HermiteOptions o = options(0);
  o.eta = 0.005;
  Hermite h = integrator(device, stars, o);
  const double begin = energy(h, stars.mass);
  CHECK(begin == Approx(-0.125).epsilon(1e-12));
  while (h.time() < 50 * 2 * std::numbers::pi) h.advance();
  CHECK(std::abs(energy(h, stars.mass) / begin - 1) < 1e-4);
  std::vector<double> x(6), v(6);
  h.predict(x.data(), v.data());
  CHECK(x[0] * v[1] - x[1] * v[0] == Approx(0.25 * std::sqrt(1 - 0.81)).epsilon(1e-4));
  const HermiteStatistics s = h.statistics();
  CHECK(s.smallest_step < s.largest_step / 8);
  CHECK(s.particle_steps == 2 * s.block_steps);
}

TEST_CASE("a Plummer model conserves energy to a millionth with the default parameters") {
  Device device = native();
  const Stars stars = plummer(256);
  Hermite h = integrator(device, stars, options(1.0 / 64));
  CHECK(h.kernel() == "gravity_jerk_long");
  const double begin = energy(h, stars.mass);
  while (h.time() < 1) h.advance();
  CHECK(h.time() == 1);
  CHECK(std::abs(energy(h, stars.mass) / begin - 1) < 1e-6);
  const HermiteStatistics s = h.statistics();
  CHECK(s.mean_block() > 4);
  CHECK(s.mean_block() < 256);
  CHECK(s.limited_steps == 0);
  // Forces of every block step, of the start and of the two energies.
  CHECK(s.evaluations == s.block_steps + 3);
}

TEST_CASE("block steps are powers of two and begin at multiples of themselves") {
  Device device = native();
  const Stars stars = plummer(64);
  Hermite h = integrator(device, stars, options(1.0 / 64, 0.1));
  double last = 0;
  int cycles = 0;
  for (int k = 0; cycles < 2; ++k) {
    if (h.step()) ++cycles;
    const HermiteState s = h.state();
    CHECK((s.now > last || s.now == 0));
    CHECK(h.fraction() == s.now);
    CHECK(h.time() == (static_cast<double>(cycles) + s.now) * 0.1);
    last = s.now;
    for (std::size_t i = 0; i < s.size(); ++i) {
      CHECK(round_down_to_block(s.step[i]) == s.step[i]);
      CHECK(commensurate(s.time[i], s.step[i]));
      CHECK(s.time[i] <= s.now);
      CHECK(s.time[i] + s.step[i] > s.now);
    }
  }
}

TEST_CASE("a run from a state in the middle of a cycle continues with the same bits") {
  for (const char* name : {"emulator:engine=native,threads=1", "emulator:threads=1"}) {
    Device device = Device::open(name);
    const Stars stars = plummer(48);
    Hermite whole = integrator(device, stars, options(1.0 / 64));
    for (int k = 0; k < 37; ++k) whole.step();
    const HermiteState half = whole.state();
    CHECK(half.now > 0);
    Hermite rest(device, half, stars.mass.data(), options(1.0 / 64));
    CHECK(rest.state() == half);
    CHECK(rest.time() == whole.time());
    for (int k = 0; k < 30; ++k) CHECK(whole.step() == rest.step());
    CHECK(whole.state() == rest.state());
  }
}

TEST_CASE("energies in between do not change the integration") {
  Device device = native();
  const Stars stars = plummer(32);
  Hermite a = integrator(device, stars, options(1.0 / 64));
  Hermite b = integrator(device, stars, options(1.0 / 64));
  for (int k = 0; k < 40; ++k) {
    a.step();
    b.step();
    energy(b, stars.mass);
  }
  CHECK(a.state() == b.state());
}

TEST_CASE("the bits do not depend on threads, boards and instruction set") {
  const Stars stars = plummer(48);
  const auto final = [&](const char* name) {
    Device device = Device::open(name);
    Hermite h = integrator(device, stars, options(1.0 / 64));
    h.advance();
    return h.state();
  };
  const HermiteState exact = final("exact:threads=1");
  CHECK(final("exact:threads=2") == exact);
  CHECK(final("exact:threads=1,boards=2") == exact);
  CHECK(final("exact:threads=2,isa=portable") == exact);
  CHECK(final("emulator:engine=native,threads=1") == final("emulator:engine=native,threads=2"));
}

TEST_CASE("advance stops after the block step at which it is told to") {
  Device device = native();
  const Stars stars = plummer(32);
  Hermite h = integrator(device, stars, options(1.0 / 64));
  int calls = 0;
  CHECK_FALSE(h.advance([&] { return ++calls == 3; }));
  CHECK(h.statistics().block_steps == 3);
  CHECK(h.fraction() > 0);
  CHECK(h.advance());
  CHECK(h.fraction() == 0);
  CHECK(h.time() == 1.0 / 16);
}

TEST_CASE("a lower limit of the steps is kept and counted") {
  Device device = native();
  HermiteOptions o = options(0);
  o.smallest_step = 0.003;  // the step 1/256 is the first above it
  Hermite h = integrator(device, ellipse(0.95), o);
  while (h.time() < 2 * std::numbers::pi) h.advance();
  CHECK(h.statistics().smallest_step == 1.0 / 256);
  CHECK(h.statistics().limited_steps > 0);
}

TEST_CASE("a single particle moves on a straight line in the largest steps") {
  Device device = native();
  Hermite h = integrator(device, {{1, 2, 3}, {1, 0, -1}, {5}}, options(0, 0.25));
  for (int k = 0; k < 4; ++k) CHECK(h.step());
  std::vector<double> x(3), v(3), a(3), potential(1);
  h.predict(x.data(), v.data());
  CHECK(x == std::vector<double>{2, 2, 2});
  h.forces(a.data(), potential.data());
  CHECK(a == std::vector<double>{0, 0, 0});
  CHECK(potential[0] == 0);
}

TEST_CASE("two particles that are too close raise an error with the particle and the step") {
  Device device = native();
  const Stars close{{1e-9, 0, 0, -1e-9, 0, 0}, {0, 1, 0, 0, -1, 0}, {1, 1}};
  Hermite h = integrator(device, close, options(0));
  const auto run = [&] {
    for (int k = 0; k < 10000; ++k) h.step();
  };
  CHECK_THROWS_AS(run(), StepTooShort);
  const HermiteState before = h.state();
  expect_error(ErrorCategory::Input, {"particle 0", "needs a step of", "larger eps", "--dt-min"},
               [&] { h.step(); });
  CHECK(h.state() == before);
}

namespace {

/// Energy error, relative to |initial energy|, after a number of cycles.
double energy_error(Device& device, const Stars& stars, const HermiteOptions& o, int cycles,
                    HermiteStatistics& statistics) {
  Hermite h = integrator(device, stars, o);
  const double before = energy(h, stars.mass);
  for (int k = 0; k < cycles; ++k) h.advance();
  statistics = h.statistics();
  return std::abs(energy(h, stars.mass) / before - 1);
}

/// A cube of side n of unit masses at rest.
Stars cold_lattice(int n) {
  Stars s;
  for (int k = 0; k < n * n * n; ++k) {
    for (const int c : {k % n, k / n % n, k / n / n}) s.position.push_back(c - 0.5 * (n - 1));
    s.mass.push_back(1.0 / (n * n * n));
  }
  s.velocity.resize(s.position.size());
  return s;
}

/// A star of mass 1 at the centre of a ring of planets on circular orbits.
Stars star_with_ring(int planets, double mass) {
  Stars s{{0, 0, 0}, {0, 0, 0}, {1}};
  for (int k = 0; k < planets; ++k) {
    const double angle = 2 * std::numbers::pi * k / planets;
    s.position.insert(s.position.end(), {std::cos(angle), std::sin(angle), 0});
    s.velocity.insert(s.velocity.end(), {-std::sin(angle), std::cos(angle), 0});
    s.mass.push_back(mass);
  }
  return s;
}

}  // namespace

TEST_CASE("the figure-eight, where the force on a body cancels, is integrated in usual steps") {
  const double x = 0.97000436, y = -0.24308753, vx = 0.466203685, vy = 0.43236573;
  const Stars eight{
      {x, y, 0, -x, -y, 0, 0, 0, 0}, {vx, vy, 0, vx, vy, 0, -2 * vx, -2 * vy, 0}, {1, 1, 1}};
  for (const char* engine : {"native", "native-mixed", "vector"}) {
    CAPTURE(engine);
    Device device = Device::open(std::string("emulator:engine=") + engine);
    HermiteStatistics s;
    const double error = energy_error(device, eight, options(0), 2 * 102, s);  // two periods
    CHECK(error < 1e-5);
    CHECK(s.block_steps < 4000);
    CHECK(s.smallest_step > 1e-4);
  }
}

TEST_CASE("a star with a ring of planets, and a cold lattice, are integrated in usual steps") {
  for (const char* engine : {"native", "native-mixed", "native-float", "vector"}) {
    CAPTURE(engine);
    Device device = Device::open(std::string("emulator:engine=") + engine);
    HermiteStatistics s;
    CHECK(energy_error(device, star_with_ring(8, 1e-6), options(0), 32, s) < 1e-5);
    CHECK(s.block_steps < 5000);
    CHECK(s.smallest_step > 1e-4);
    CHECK(energy_error(device, cold_lattice(5), options(0.01), 8, s) < 1e-5);
    CHECK(s.block_steps < 5000);
    CHECK(s.smallest_step > 1e-5);
  }
}

TEST_CASE("particles at rest begin with steps of the time scale of their force") {
  Device device = native();
  const Stars line{{0, 0, 0, 0.01, 0, 0, 5, 0, 0}, std::vector<double>(9), {1, 1, 1}};
  for (const double eta : {0.02, 0.005}) {
    CAPTURE(eta);
    HermiteOptions o = options(0.001);
    o.eta = eta;
    o.eta_start = eta / 2;
    HermiteStatistics s;
    CHECK(energy_error(device, line, o, 16, s) < eta);
  }
}

TEST_CASE("invalid options and particles raise an error with their name") {
  Device device = native();
  const Stars stars = ellipse(0.5);
  const auto refused = [&](const char* word, const auto& change) {
    HermiteOptions o = options(0.1);
    Stars s = stars;
    change(o, s);
    expect_error(ErrorCategory::Input, {word}, [&] { integrator(device, s, o); });
  };
  using O = HermiteOptions;
  refused("eps", [](O& o, Stars&) { o.eps = -1; });
  refused("eps", [](O& o, Stars&) { o.eps = 1e-200; });
  refused("eta ", [](O& o, Stars&) { o.eta = 0; });
  refused("eta_start", [](O& o, Stars&) { o.eta_start = NAN; });
  refused("largest_step", [](O& o, Stars&) { o.largest_step = INFINITY; });
  refused("smallest_step", [](O& o, Stars&) { o.smallest_step = -1; });
  refused("above largest_step", [](O& o, Stars&) { o.smallest_step = 1; });
  refused("resolution", [](O& o, Stars&) { o.smallest_step = 1e-20; });
  refused("gravity_jerk_long", [](O& o, Stars&) { o.kernel = "gravity"; });
  refused("particle 1: its velocity", [](O&, Stars& s) { s.velocity[4] = NAN; });
  refused("particle 0: its mass", [](O&, Stars& s) { s.mass[0] = INFINITY; });
  refused("no particles", [](O&, Stars& s) { s = {}; });
}

TEST_CASE("an inconsistent state raises an error with the particle") {
  Device device = native();
  const Stars stars = plummer(8);
  Hermite h = integrator(device, stars, options(1.0 / 64));
  for (int k = 0; k < 5; ++k) h.step();
  const HermiteState good = h.state();
  const auto refused = [&](const char* word, const auto& change) {
    HermiteState s = good;
    change(s);
    expect_error(ErrorCategory::Input, {word},
                 [&] { Hermite(device, s, stars.mass.data(), options(1.0 / 64)); });
  };
  refused("different numbers", [](HermiteState& s) { s.jerk.pop_back(); });
  refused("out of range", [](HermiteState& s) { s.now = 1; });
  refused("particle 3: time", [](HermiteState& s) { s.step[3] = 0.3; });
  refused("particle 2: time", [](HermiteState& s) { s.time[2] = 0.9; });
  refused("particle 7: its jerk", [](HermiteState& s) { s.jerk[23] = NAN; });
}

TEST_CASE("a force that is not finite raises an error with the particle") {
  Device device = native();
  const Stars far{{1e200, 0, 0, -1e200, 0, 0, 0, 1, 0}, std::vector<double>(9), {1, 1, 1}};
  expect_error(ErrorCategory::Input, {"particle 0 is too distant"},
               [&] { integrator(device, far, options(0.1)); });
}

}  // namespace
}  // namespace gdr::test
