// Arrays whose sizes the library knows: vectors, spans, arrays and structures.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "gdr/chemistry.hpp"
#include "gdr/device.hpp"
#include "gdr/gravity.hpp"
#include "gdr/hermite.hpp"
#include "gdr/set_list.hpp"
#include "library/refused.hpp"
#include "support/catch.hpp"

namespace gdr::test {
namespace {

const Kernel& sums() {
  static const Kernel compiled = Kernel::compile(
      "kernel sums; VARI x; VARI int ti; VARJ w; VARJ int id; VARF f; VARF int count;\n"
      "f += w*x; if (id > ti) { count += id; }");
  return compiled;
}

const Kernel& vectors() {
  static const Kernel compiled = Kernel::compile(
      "kernel vectors; VARI vec3 x; VARJ vec3 xs; VARJ m; VARF vec3 f; f += m*(xs - x);");
  return compiled;
}

Device small() { return Device::open("emulator:chips=1,blocks=2,pes=4"); }

struct Particle {
  double mass;
  double position[3];
  std::array<double, 3> force;
  std::int32_t id;
};

}  // namespace

TEST_CASE("a result vector shorter than the targets is refused, not written beyond its end") {
  Device device = small();
  Job job = device.job(sums());
  const std::size_t n = 1000;
  const std::vector<double> x(n, 2.0), w(3, 1.0);
  const std::vector<std::int64_t> ti(n, 0), id(3, 1);
  std::vector<double> f(10);
  std::vector<std::int64_t> count(n);
  has(refused([&] {
        job.targets(n + 1, {{"x", x}, {"ti", ti}});
      }),
      "needs 1001 numbers, its array has 1000");
  has(refused([&] { job.sources(4, {{"w", w}, {"id", id}}); }), "\"w\" needs 4 numbers");
  job.targets(n, {{"x", x}, {"ti", ti}});
  job.sources(3, {{"w", w}, {"id", id}});
  has(refused([&] {
        job.run({{"f", f}, {"count", count}});
      }),
      "\"f\" needs 1000 numbers, its array has 10");
  // The names are those of the last call, whose arrays were long enough.
  std::vector<double> enough(n);
  job.run({{"f", enough}, {"count", count}});
  CHECK(enough.back() == 6);
  has(refused([&] { job.run({{"f", f}, {"count", count}}); }), "\"f\" needs 1000");
  has(refused([&] { job.start({{"f", std::span(enough).first(999)}}); }), "has 999");
  has(refused([&] { job.targets(n, {{"x", std::span(x).first(5)}, {"ti", ti}}); }), "has 5");
  has(refused([&] { job.update_sources(0, 3, {{"w", std::span(w).first(2)}}); }), "has 2");
  const std::array<std::int32_t, 3> places{0, 1, 2};
  has(refused([&] { job.update_sources(places, {{"w", std::array<double, 2>{1, 2}}}); }), "has 2");
  double c_array[2] = {};
  has(refused([&] { job.run({{"f", c_array}}); }), "has 2");
  double* const unchecked = enough.data();
  job.run({{"f", unchecked}});
}

TEST_CASE("arrays of a set job that are shorter than their sets are refused") {
  Device device = small();
  SetJob job(device, sums());
  const std::vector<double> x(4, 1.0), w(4, 1.0);
  const std::vector<std::int64_t> ti(4, 0), id(4, 1);
  std::vector<double> f(4);
  const std::vector<NamedInput> targets{{"x", x}, {"ti", ti}}, sources{{"w", w}, {"id", id}};
  const std::vector<NamedResult> results{{"f", f}};
  const std::vector<std::int32_t> index{0, 3};
  const auto run = [&](std::size_t first, SourceSegment segment) {
    const InteractionSet set{3, targets, {&segment, 1}, results, first};
    job.run({&set, 1});
  };
  run(1, {2, sources, index.data(), 4});
  CHECK(f[3] == 2);
  has(refused([&] { run(2, {2, sources}); }), "set 0: target variable \"x\" needs 5 numbers");
  has(refused([&] {
        run(0, {2, sources, nullptr, 0, 3});
      }),
      "segment 0: source variable \"w\" needs 5 numbers");
  has(refused([&] { run(0, {2, sources, index.data(), 5}); }), "needs 5 numbers");
}

TEST_CASE("spans, arrays, and vectors of floats and 32-bit integers are inputs and results") {
  Device device = small();
  Job job = device.job(sums());
  const std::vector<float> x{1, 2, 3};
  const std::vector<std::int32_t> ti{-5, 0, 7};
  const std::array<double, 2> w{0.5, 0.25};
  const std::int32_t id[2] = {-3, 4};
  std::vector<float> f(3);
  std::vector<std::int32_t> count(3);
  job.targets(3, {{"x", x}, {"ti", std::span(ti)}});
  job.sources(2, {{"w", w}, {"id", id}});
  job.run({{"f", f}, {"count", std::span(count)}});
  CHECK(f == std::vector<float>{0.75F, 1.5F, 2.25F});
  CHECK(count == std::vector<std::int32_t>{1, 4, 0});
  const std::vector<std::int64_t> large(2, 0x7fffffff);
  job.sources(2, {{"w", w}, {"id", large}});
  try {
    job.run({{"count", count}});
    FAIL("a sum of 33 bits must not fit");
  } catch (const Error& error) {
    CHECK(error.category() == ErrorCategory::Input);
    has(error.what(), "\"count\" has a value that an integer of 32 bits cannot hold");
  }
}

TEST_CASE("vectors of arrays and members of structures are arrays of vectors") {
  Device device = small();
  Job job = device.job(vectors());
  std::vector<Particle> p(5);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const auto k = static_cast<double>(i);
    p[i] = {k + 1, {k, 2 * k, -k}, {}, 0};
  }
  const std::vector<std::array<double, 3>> x{{1, 0, 0}, {0, 1, 0}};
  std::vector<std::array<double, 3>> f(2), same(2);
  job.targets(2, {{"x", x}});
  job.sources(5, {{"m", {p, &Particle::mass}}, {"xs", {p, &Particle::position}}});
  job.run({{"f", f}});
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (const Particle& j : p) sum += j.mass * (j.position[c] - x[i][c]);
      CHECK(f[i][c] == sum);
    }
  // The same with strides.
  job.sources(5, {{"m", {&p[0].mass, sizeof(Particle)}},
                  {"xs", {&p[0].position[0], sizeof(double), sizeof(Particle)}}});
  job.run({{"f", same}});
  CHECK(same == f);
  // Results in structures, the sources as targets.
  job.targets(5, {{"x", {p, &Particle::position}}});
  job.run({{"f", {p, &Particle::force}}});
  CHECK(p[0].force[0] == 0 + 2 + 6 + 12 + 20);
  CHECK(p[4].mass == 5);
  has(refused([&] {
        job.targets(6, {{"x", {p, &Particle::position}}});
      }),
      "needs 18 numbers, 3 for each");
  has(refused([&] {
        job.sources(5, {{"m", {p, &Particle::position}}, {"xs", x}});
      }),
      "\"m\" is a single value");
  p[3].position[1] = std::numeric_limits<double>::quiet_NaN();
  try {
    job.targets(5, {{"x", {p, &Particle::position}}});
    FAIL("a NaN must be refused");
  } catch (const Error& error) {
    has(error.what(), "\"x\"[3, 1] is not a number");
  }
}

TEST_CASE("Gravity and Hermite take vectors and spans, and refuse short ones") {
  Device device = small();
  Gravity gravity(device);
  const std::vector<double> x{0, 0, 0, 2, 0, 0}, m{1, 1};
  std::vector<double> acc(6), pot(2);
  gravity.compute(2, x, m, 0.0, acc, pot);
  CHECK(std::abs(acc[0] - 0.25) < 1e-6);
  gravity.compute(2, x, m, 0.0, acc, nullptr);
  std::vector<std::array<double, 3>> triples(2);
  gravity.compute(2, std::span(x), m.data(), 0.0, triples, pot);
  CHECK(triples[0][0] == acc[0]);
  has(refused([&] { gravity.compute(3, x, m, 0.0, acc, pot); }),
      "position has 6 numbers, expected 9");
  has(refused([&] { gravity.compute(2, x, m, 0.0, std::span(acc).first(5), pot); }),
      "acceleration has 5");
  has(refused([&] { gravity.compute_on(2, x, 2, x, m, 0.0, acc, std::span(pot).first(1)); }),
      "potential has 1");
  HermiteOptions options;
  options.eps = 0.1;
  Hermite stars(device, 2, x, std::vector<double>(6), m, options);
  has(refused([&] { stars.predict(acc, pot); }), "velocity has 2 numbers, expected 6");
  has(refused([&] { stars.forces(pot, pot); }), "acceleration has 2");
  has(refused([&] { Hermite(device, 3, x, x, m, options); }), "position has 6");
}

TEST_CASE("a Coulomb matrix that is too short is refused") {
  Device device = Device::open();
  const std::vector<chemistry::Shell> shells{{{0, 0, 0}, 0, true, {1.0}, {1.0}},
                                             {{0, 0, 1}, 0, true, {1.0}, {1.0}}};
  chemistry::Coulomb coulomb(device, shells);
  const std::vector<double> density(4, 0.5);
  std::vector<double> result(4);
  coulomb.matrix(density, result);
  has(refused([&] { coulomb.matrix(density, std::span(result).first(3)); }),
      "coulomb has 3 numbers");
}

}  // namespace gdr::test
