// Prediction of sources with individual times, against the polynomials in long double.
#include "gdr/moving_sources.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gdr/error.hpp"
#include "library/refused.hpp"
#include "support/catch.hpp"

namespace {

using gdr::MovingSource;

/// Sums of what a job holds: a result of every variable of the sources, exact for these integers.
const char* const sums_text = R"(kernel sums; precision long;
VARI int i;
VARJ xj, yj, zj, vxj, vyj, vzj, mj; VARJ int idj;
VARF x, y, z, vx, vy, vz, m;
if (i == idj) { x += xj; y += yj; z += zj; vx += vxj; vy += vyj; vz += vzj; m += mj; })";

std::vector<MovingSource> random_particles(std::size_t n) {
  std::mt19937 engine(17);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<MovingSource> particles(n);
  for (std::size_t k = 0; k < n; ++k) {
    MovingSource& p = particles[k];
    p.time = number(engine) / 8;
    p.mass = number(engine) + 2;
    p.id = static_cast<std::int64_t>(k) + (std::int64_t{1} << 30);
    for (auto* vector : {&p.x, &p.v, &p.half_a, &p.sixth_j, &p.snap_18th})
      for (double& c : *vector) c = number(engine);
  }
  return particles;
}

/// Position and velocity of one coordinate at a time.
std::pair<long double, long double> predicted(const MovingSource& p, double time, std::size_t k) {
  const long double dt = static_cast<long double>(time) - p.time;
  const long double a = 2 * static_cast<long double>(p.half_a[k]);
  const long double j = 6 * static_cast<long double>(p.sixth_j[k]);
  const long double s = 18 * static_cast<long double>(p.snap_18th[k]);
  return {p.x[k] + dt * (p.v[k] + dt * (a / 2 + dt * (j / 6 + dt * s / 24))),
          p.v[k] + dt * (a + dt * (j / 2 + dt * s / 6))};
}

/// The variables of each particle as the job has them.
std::vector<std::vector<double>> contents(gdr::Job& job, const std::vector<MovingSource>& particles,
                                          std::size_t n) {
  std::vector<std::int64_t> id;
  for (std::size_t k = 0; k < n; ++k) id.push_back(particles[k].id);
  job.targets(n, {{"i", id.data()}});
  std::vector<std::vector<double>> values(7, std::vector<double>(n));
  const char* const names[] = {"x", "y", "z", "vx", "vy", "vz", "m"};
  std::vector<gdr::NamedResult> results;
  for (std::size_t c = 0; c < 7; ++c) results.push_back({names[c], values[c].data()});
  job.run(results);
  return values;
}

void check_contents(gdr::Job& job, const std::vector<MovingSource>& particles, double time,
                    std::size_t n) {
  const auto values = contents(job, particles, n);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(values[6][i] == particles[i].mass);
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [x, v] = predicted(particles[i], time, k);
      largest = std::max({largest, std::abs(static_cast<double>(values[k][i] - x)),
                          std::abs(static_cast<double>(values[3 + k][i] - v))});
    }
  }
  CHECK(largest < 4e-15);  // sums of six terms of order one
}

}  // namespace

TEST_CASE("moving sources are those of their polynomials at the time of the run") {
  for (const char* engine : {"native", "vector"}) {
    gdr::Device device = gdr::Device::open(std::string("emulator:engine=") + engine);
    gdr::Job job = device.job(gdr::Kernel::compile(sums_text));
    constexpr std::size_t n = 300;
    std::vector<MovingSource> particles = random_particles(n);
    gdr::MovingSources sources;
    for (std::size_t k = n; k-- > 0;) sources.set(k, particles[k]);
    for (const double time : {0.0, 0.25, -0.125}) {
      sources.predict(job, time, n);
      check_contents(job, particles, time, n);
    }
    // The same time: only the particles that were set are sent, unsorted and one twice.
    const std::vector<MovingSource> others = random_particles(n + 9);
    for (const std::size_t slot : {250U, 3U, 4U, 299U, 3U}) {
      const std::int64_t id = particles[slot].id;
      particles[slot] = others[slot + 9];
      particles[slot].id = id;
      sources.set(slot, particles[slot]);
    }
    device.reset_statistics();
    sources.predict(job, -0.125, n);
    check_contents(job, particles, -0.125, n);
    CHECK(device.statistics().bytes_to_board < n * 64 / 2);
    // Fewer particles, another job, and a particle beyond those of the last call.
    sources.predict(job, -0.125, 100);
    check_contents(job, particles, -0.125, 100);
    gdr::Job second = device.job(gdr::Kernel::compile(sums_text));
    sources.resend(second);
    check_contents(second, particles, -0.125, 100);
    // Another job with as many sources, which are not these.
    gdr::MovingSources others_there;
    for (std::size_t k = 0; k < 100; ++k) others_there.set(k, others[k]);
    others_there.predict(second, -0.125, 100);
    sources.predict(second, -0.125, 100);
    check_contents(second, particles, -0.125, 100);
    particles[200].mass = 5;
    sources.set(200, particles[200]);
    sources.predict(job, -0.125, n);
    check_contents(job, particles, -0.125, n);
    CHECK(sources.predicted() == n);
    CHECK(sources.ids()[7] == particles[7].id);
  }
}

TEST_CASE("a kernel may have no velocities of its sources") {
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  gdr::Job job = device.job(gdr::Kernel::builtin("gravity_potential"));
  gdr::MovingSources sources({.v = {}});
  sources.set(0, {.mass = 3, .x = {1, 0, 0}, .v = {2, 0, 0}});
  sources.predict(job, 0.5, 1);
  const double zero = 0;
  const std::int64_t other = -1;
  double pot = 0;
  job.targets(1, {{"xi", &zero}, {"yi", &zero}, {"zi", &zero}, {"idi", &other}});
  job.run({{"pot", &pot}});
  CHECK(std::abs(std::abs(pot) - 1.5) < 1e-6);  // at distance 2
}

TEST_CASE("kernels may have variables for the slots of moving sources") {
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  gdr::Job with = device.job(gdr::Kernel::compile(
      "kernel slots; VARI int i; VARJ xj; VARJ int idj, slotj; VARF int slot;\n"
      "if (i == idj) { slot max= slotj; }"));
  gdr::Job without = device.job(gdr::Kernel::compile(
      "kernel slots; VARI int i; VARJ xj; VARJ int idj; VARF x;\nif (i == idj) { x += xj; }"));
  gdr::MovingSources sources({.x = {"xj", "", ""}, .v = {}, .mass = {}});
  std::vector<std::int64_t> ids;
  const auto check = [&](std::size_t n) {
    sources.name_slots("slotj");
    sources.predict(with, 0, n);
    std::vector<std::int64_t> slots(n);
    with.targets(n, {{"i", ids.data()}});
    with.run({{"slot", slots.data()}});
    for (std::size_t k = 0; k < n; ++k) CHECK(slots[k] == static_cast<std::int64_t>(k));
    sources.name_slots({});
    sources.predict(without, 0, n);
    std::vector<double> x(n);
    without.targets(n, {{"i", ids.data()}});
    without.run({{"x", x.data()}});
    for (std::size_t k = 0; k < n; ++k) CHECK(x[k] == static_cast<double>(k % 7));
  };
  for (const std::size_t n : {5U, 5000U, 9000U}) {
    for (std::size_t k = ids.size(); k < n; ++k) {
      ids.push_back(100'000 - 3 * static_cast<std::int64_t>(k));
      sources.set(k, {.id = ids[k], .x = {static_cast<double>(k % 7), 0, 0}});
    }
    check(n);
  }
  check(4);
}

TEST_CASE("moving sources that were not set, or are not finite, are refused") {
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  gdr::Job job = device.job(gdr::Kernel::compile(sums_text));
  gdr::MovingSources sources;
  sources.set(0, {});
  sources.set(2, {});
  gdr::test::has(gdr::test::refused([&] { sources.predict(job, 0, 3); }),
                 "address 1 was never set");
  sources.set(1, {.half_a = {std::numeric_limits<double>::infinity(), 0, 0}});
  CHECK_THROWS_AS(sources.predict(job, 1, 3), gdr::Error);
  sources.set(1, {.mass = 4, .id = 7});
  sources.predict(job, 1, 3);
  CHECK(job.source_count() == 3);
}
