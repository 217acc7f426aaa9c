// Physical laws of the kernels' results: forces are derivatives of energies, jerks are derivatives
// of forces, and momentum and energy are conserved.
#include <array>
#include <cmath>

#include "bench/laws/laws.hpp"
#include "support/catch.hpp"

using namespace gdr;
using namespace gdr::bench;

namespace {

const char* const axes[] = {"x", "y", "z"};

Columns run(const std::string& kernel, const Law& law, const Sample& targets,
            const Sample& sources) {
  Device device = Device::open("emulator:engine=vector");
  return run_law(device, Kernel::builtin(kernel), law, targets, sources);
}

/// Test particles whose ids and positions differ from those of the sources.
Sample probes(const Law& law) {
  Sample s = law.sample(64, 21);
  for (const char* axis : axes)
    for (double& x : s.columns[axis]) x = 0.9 * x + 0.55;
  for (double& id : s.columns["id"]) id = -1;
  return s;
}

/// The sample advanced by `step`: positions by velocities, velocities by accelerations.
Sample later(Sample s, double step) {
  for (const char* axis : axes) {
    const std::string v = std::string("v") + axis, a = std::string("a") + axis;
    for (std::size_t k = 0; k < s.n; ++k) {
      const double velocity = s.columns[v][k];
      const double acceleration = s.columns.count(a) != 0 ? s.columns[a][k] : 0;
      s.columns[axis][k] += step * (velocity + step / 2 * acceleration);
      s.columns[v][k] += step * acceleration;
    }
  }
  return s;
}

/// Root mean square of found - right, relative to that of right.
double difference(const std::vector<double>& found, const std::vector<double>& right) {
  double off = 0, size = 0;
  for (std::size_t k = 0; k < right.size(); ++k) {
    off += (found[k] - right[k]) * (found[k] - right[k]);
    size += right[k] * right[k];
  }
  return std::sqrt(off / size);
}

/// (b - a) / step
std::vector<double> slope(const std::vector<double>& a, const std::vector<double>& b, double step) {
  std::vector<double> s(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) s[k] = (b[k] - a[k]) / step;
  return s;
}

}  // namespace

TEST_CASE("forces are the negative gradients of energies") {
  // The result with the energy, and whether a force is the slope or its negative.
  struct Case {
    const char* kernel;
    std::size_t energy;
  };
  for (const Case& c : {Case{"gravity", 3},
                        {"gravity_potential", 3},
                        {"gravity_jerk", 6},
                        {"gravity_long", 3},
                        {"gravity_snap", 9},
                        {"gravity_1pn", 6},
                        {"lennard_jones", 3},
                        {"lennard_jones_mixed", 3},
                        {"coulomb", 3},
                        {"coulomb_ewald", 3},
                        {"morse", 3},
                        {"buckingham", 3}}) {
    Law law = law_of(c.kernel);
    for (auto& [name, value] : law.parameters) {
      if (name == "eps2") value = 0.01;
      if (name == "rc2") value = 1e4;  // no pair crosses the cut-off within a step
      if (name == "alpha") value = 0.3;
    }
    const Sample sources = law.sample(64, 20), targets = probes(law);
    const Columns here = run(c.kernel, law, targets, sources);
    constexpr double step = 0x1p-10;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Sample before = targets, after = targets;
      for (double& x : before.columns[axes[axis]]) x -= step;
      for (double& x : after.columns[axes[axis]]) x += step;
      const auto gain = slope(run(c.kernel, law, after, sources)[c.energy],
                              run(c.kernel, law, before, sources)[c.energy], 2 * step);
      INFO(c.kernel << " along " << axes[axis]);
      CHECK(difference(here[axis], gain) < 3e-3);
    }
  }
}

TEST_CASE("jerk and snap are time derivatives of force and jerk") {
  struct Case {
    const char* kernel;
    std::size_t order;  // number of derivatives
  };
  for (const Case& c : {Case{"gravity_jerk", 1},
                        {"gravity_jerk_long", 1},
                        {"gravity_nearest", 1},
                        {"gravity_neighbours", 1},
                        {"gravity_snap", 2}}) {
    Law law = law_of(c.kernel);
    law.parameters[0].second = 0.04;
    const Sample sources = law.sample(64, 20), targets = probes(law);
    const Columns here = run(c.kernel, law, targets, sources);
    constexpr double step = 0x1p-9;
    const Columns before = run(c.kernel, law, later(targets, -step), later(sources, -step));
    const Columns after = run(c.kernel, law, later(targets, step), later(sources, step));
    for (std::size_t k = 0; k < 3 * c.order; ++k) {
      INFO(c.kernel << ", result " << k + 3);
      CHECK(difference(here[k + 3], slope(before[k], after[k], 2 * step)) < 1e-3);
    }
  }
}

TEST_CASE("virials are the derivatives of energies with respect to scale") {
  for (const char* kernel : {"lennard_jones", "lennard_jones_mixed"}) {
    Law law = law_of(kernel);
    law.parameters[0].second = 1e4;
    const Sample s = law.sample(64, 4);
    constexpr double step = 0x1p-11;
    const auto energy = [&](double factor) {
      Sample grown = s;
      for (const char* axis : axes)
        for (double& x : grown.columns[axis]) x *= factor;
      return run(kernel, law, grown, grown)[3];
    };
    const Columns here = run(kernel, law, s, s);
    CHECK(difference(here[4], slope(energy(1 + step), energy(1 - step), 2 * step)) < 1e-3);
  }
}

TEST_CASE("total momentum is conserved") {
  struct Case {
    const char* kernel;
    const char* weight;  // column by which the result is multiplied to be a force; null: none
  };
  for (const Case& c : {Case{"gravity_jerk", "m"},
                        {"gravity_snap", "m"},
                        {"coulomb", "q"},
                        {"coulomb_ewald", "q"},
                        {"lennard_jones", nullptr},
                        {"lennard_jones_mixed", nullptr},
                        {"morse", nullptr},
                        {"buckingham", nullptr},
                        {"sph_force", "m"}}) {
    const Law& law = law_of(c.kernel);
    const Sample s = law.sample(216, 9);
    const Columns f = run(c.kernel, law, s, s);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double sum = 0, size = 0;
      for (std::size_t k = 0; k < s.n; ++k) {
        const double force = f[axis][k] * (c.weight != nullptr ? s.of(c.weight)[k] : 1);
        sum += force;
        size += std::abs(force);
      }
      INFO(c.kernel << " along " << axes[axis]);
      CHECK(std::abs(sum) < 1e-6 * size);
    }
  }
}

TEST_CASE("SPH forces conserve energy and heat under compression") {
  Law law = law_of("sph_force");
  const Sample s = law.sample(216, 9);
  const Columns f = run("sph_force", law, s, s);
  double sum = 0, size = 0;
  for (std::size_t k = 0; k < s.n; ++k) {
    const double kinetic =
        s.of("vx")[k] * f[0][k] + s.of("vy")[k] * f[1][k] + s.of("vz")[k] * f[2][k];
    sum += s.of("m")[k] * (kinetic + f[3][k]);
    size += s.of("m")[k] * std::abs(kinetic);
  }
  CHECK(std::abs(sum) < 1e-6 * size);

  // Without viscosity, and with p / rho^2 = 1: the rate is that of the density.
  for (auto& [name, value] : law.parameters)
    if (name == "alpha" || name == "beta") value = 0;
  Sample cold = s;
  cold.columns["p"].assign(s.n, 1);
  const Law& density = law_of("sph_density");
  constexpr double step = 0x1p-9;
  const Columns before = run("sph_density", density, later(cold, -step), later(cold, -step));
  const Columns after = run("sph_density", density, later(cold, step), later(cold, step));
  CHECK(difference(run("sph_force", law, cold, cold)[3], slope(before[0], after[0], 2 * step)) <
        1e-3);
}

TEST_CASE("a binary conserves its energy to first post-Newtonian order") {
  // E = sum m v^2 / 2 - m1 m2 / r + 1/c^2 { 3/8 sum m v^4 + m1 m2 / 2r (3 v1^2 + 3 v2^2 - 7 v1.v2
  //     - n.v1 n.v2) + m1 m2 (m1 + m2) / 2r^2 },   Blanchet 2014, eq. 205
  Law law = law_of("gravity_1pn");
  law.parameters[0].second = 0;
  constexpr double m[] = {1.3, 0.7};
  const auto energy = [&](const Sample& s, double cinv2) {
    std::array<Vec, 2> x, v;
    for (std::size_t k = 0; k < 2; ++k) {
      x[k] = {s.of("x")[k], s.of("y")[k], s.of("z")[k]};
      v[k] = {s.of("vx")[k], s.of("vy")[k], s.of("vz")[k]};
    }
    const Vec d = x[0] - x[1];
    const Real r = std::sqrt(dot(d, d)), mm = m[0] * m[1];
    const Real v1 = dot(v[0], v[0]), v2 = dot(v[1], v[1]);
    const Real n1 = dot(d, v[0]) / r, n2 = dot(d, v[1]) / r;
    return (m[0] * v1 + m[1] * v2) / 2 - mm / r +
           cinv2 * (0.375L * (m[0] * v1 * v1 + m[1] * v2 * v2) +
                    mm / (2 * r) * (3 * v1 + 3 * v2 - 7 * dot(v[0], v[1]) - n1 * n2) +
                    mm * (m[0] + m[1]) / (2 * r * r));
  };
  const auto rate = [&](double cinv2) {
    law.parameters[1].second = cinv2;
    Sample s{2, {}};
    s.columns = {{"x", {0, 1.1}},    {"y", {0, -0.4}},    {"z", {0, 0.3}},     {"vx", {0.5, -0.7}},
                 {"vy", {0.2, 0.3}}, {"vz", {-0.4, 0.6}}, {"m", {m[0], m[1]}}, {"id", {0, 1}}};
    const Columns f = run("gravity_1pn", law, s, s);
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::size_t k = 0; k < 2; ++k)
        s.columns[std::string("a") + axes[axis]].push_back(f[axis][k] + f[axis + 3][k]);
    constexpr double step = 0x1p-12;
    return static_cast<double>((energy(later(s, step), cinv2) - energy(later(s, -step), cinv2)) /
                               (2 * step));
  };
  // The rest is of second order in 1/c^2: without one of the terms it would be of first order.
  CHECK(std::abs(rate(1e-2)) > 1e-6);
  CHECK(std::abs(rate(1e-3)) < 2e-2 * std::abs(rate(1e-2)));
}
