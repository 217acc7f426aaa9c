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

TEST_CASE("sources that the device predicts give the sums of those that the host predicts") {
  const char* spec = GENERATE("emulator:engine=native", "emulator:engine=vector",
                              "emulator:engine=vector,partition=sources,boards=2",
                              "emulator:engine=reference,chips=1,blocks=2,pes=4");
  CAPTURE(spec);
  gdr::Device device = gdr::Device::open(spec);
  constexpr std::size_t n = 200, targets = 8;
  std::vector<MovingSource> particles = random_particles(n);
  gdr::MovingSources on_host, on_device;
  on_device.predict_on_device(true);
  const auto set = [&](std::size_t k) {
    on_host.set(k, particles[k]);
    on_device.set(k, particles[k]);
  };
  for (std::size_t k = 0; k < n; ++k) set(k);
  gdr::Job still = device.job(gdr::Kernel::builtin("gravity_jerk_long"));
  gdr::Job moving = device.job(gdr::Kernel::builtin("gravity_jerk_moving"));
  // Targets are the first sources, where they are at that time, and leave themselves out.
  const auto sums = [&](gdr::Job& job) {
    std::vector<gdr::NamedInput> inputs;
    const char* const x[] = {"xi", "yi", "zi"};
    const char* const v[] = {"vxi", "vyi", "vzi"};
    for (std::size_t k = 0; k < 3; ++k) {
      inputs.push_back({x[k], on_host.positions()[k].data()});
      inputs.push_back({v[k], on_host.velocities()[k].data()});
    }
    inputs.push_back({"idi", on_host.ids().data()});
    job.set("eps2", 0x1p-10);
    job.targets(targets, inputs);
    std::vector<std::vector<double>> results(7, std::vector<double>(targets));
    const char* const names[] = {"ax", "ay", "az", "jx", "jy", "jz", "pot"};
    std::vector<gdr::NamedResult> outputs;
    for (std::size_t c = 0; c < 7; ++c) outputs.push_back({names[c], results[c].data()});
    job.run(outputs);
    return results;
  };
  const auto compare = [&](double time, std::size_t count) {
    CAPTURE(time, count);
    on_host.predict(still, time, count);
    on_device.predict(moving, time, count);
    const auto right = sums(still), found = sums(moving);
    for (std::size_t c = 0; c < 7; ++c)
      for (std::size_t i = 0; i < targets; ++i) {
        CAPTURE(c, i);
        CHECK(std::abs(found[c][i] - right[c][i]) < 1e-10 * (1 + std::abs(right[c][i])));
      }
  };
  compare(0, n);
  // Another time: the particles are there already.
  device.reset_statistics();
  on_device.predict(moving, 0.0625, n);
  sums(moving);
  CHECK(device.statistics().bytes_to_board < n * 64);
  compare(0.0625, n);
  const std::vector<MovingSource> others = random_particles(n + 5);
  for (const std::size_t k : {7U, 150U, 151U, 3U, 150U}) {
    const std::int64_t id = particles[k].id;
    particles[k] = others[k + 5];
    particles[k].id = id;
    set(k);
  }
  compare(-0.03125, n);
  compare(-0.03125, 160);
  compare(0.125, n);
  // The positions of the host, and the same sources in a job whose kernel does not predict: those
  // of the prediction, whatever was set since.
  for (const std::size_t k : {150U, 9U, 150U}) on_device.set(k, others[(k + 1) / 2]);
  on_device.predict_on_host();
  CHECK(on_device.positions()[1][150] == on_host.positions()[1][150]);
  gdr::Job third = device.job(gdr::Kernel::builtin("gravity_jerk_long"));
  on_device.resend(third);
  CHECK(sums(third) == sums(still));
  // The host again, then the device.
  for (const std::size_t k : {150U, 9U}) set(k);
  on_device.predict_on_device(false);
  on_device.predict(third, 0.1, n);
  on_host.predict(still, 0.1, n);
  CHECK(sums(third) == sums(still));
  on_device.predict_on_device(true);
  compare(0.15, n);
}

TEST_CASE("of several particles that are set in a slot, the last one counts") {
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  gdr::Job job = device.job(gdr::Kernel::compile(sums_text));
  constexpr std::size_t n = 20;
  std::vector<MovingSource> particles = random_particles(n);
  gdr::MovingSources sources;
  for (std::size_t k = 0; k < n; ++k) sources.set(k, particles[k]);
  sources.predict(job, 0.25, n);
  const double before = sources.positions()[1][7];
  // Many more than there are slots, in any order.
  std::mt19937 engine(3);
  for (int round = 0; round < 5000; ++round) {
    const std::size_t k = engine() % n;
    particles[k].mass = round;
    particles[k].x[1] += 0.25;
    particles[k].x[1] -= std::floor(particles[k].x[1]);
    sources.set(k, particles[k]);
  }
  CHECK(sources.positions()[1][7] == before);
  sources.predict(job, 0.25, n);
  check_contents(job, particles, 0.25, n);
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
  CHECK_THROWS_WITH(sources.predict(job, NAN, 1), Catch::Contains("the time of a prediction"));
  // A kernel that predicts, and one that does not, for the other kind of prediction.
  gdr::MovingSources one;
  one.set(0, {});
  gdr::Job predicts = device.job(gdr::Kernel::builtin("gravity_jerk_moving"));
  gdr::test::has(gdr::test::refused([&] { one.predict(predicts, 0, 1); }),
                 "call predict_on_device(true)");
  one.predict_on_device(true);
  gdr::test::has(gdr::test::refused([&] { one.predict(job, 0, 1); }),
                 "needs a kernel that predicts");
  one.predict(predicts, 0, 1);
  sources.set(1, {.half_a = {std::numeric_limits<double>::infinity(), 0, 0}});
  CHECK_THROWS_AS(sources.predict(job, 1, 3), gdr::Error);
  sources.set(1, {.mass = 4, .id = 7});
  sources.predict(job, 1, 3);
  CHECK(job.source_count() == 3);
}

namespace {

/// A job of gravity with moving sources, and its results for the first sources as targets.
struct MovingGravity {
  static constexpr std::size_t targets = 5;
  gdr::Job job;
  gdr::MovingSources sources{};
  std::vector<double> x = std::vector<double>(3 * targets), v = x, acc = x, jerk = x;
  std::vector<double> pot = std::vector<double>(targets);
  std::vector<std::int64_t> id = std::vector<std::int64_t>(targets, -1);
  std::vector<gdr::NamedResult> results;

  MovingGravity(gdr::Device& device, const char* kernel)
      : job(device.job(gdr::Kernel::builtin(kernel))) {
    constexpr std::ptrdiff_t row = 3 * sizeof(double);
    for (std::size_t k = 0; k < 3 * targets; ++k) x[k] = 0.1 * static_cast<double>(k);
    double *const a = acc.data(), *const j = jerk.data();
    results = {{"ax", {a, row}},     {"ay", {a + 1, row}}, {"az", {a + 2, row}}, {"jx", {j, row}},
               {"jy", {j + 1, row}}, {"jz", {j + 2, row}}, {"pot", pot.data()}};
    job.set("eps2", 0.01);
  }
  void set_targets() {
    constexpr std::ptrdiff_t row = 3 * sizeof(double);
    const double *const p = x.data(), *const q = v.data();
    job.targets(targets, {{"xi", {p, row}},
                          {"yi", {p + 1, row}},
                          {"zi", {p + 2, row}},
                          {"vxi", {q, row}},
                          {"vyi", {q + 1, row}},
                          {"vzi", {q + 2, row}},
                          {"idi", id.data()}});
  }
};

}  // namespace

TEST_CASE("sources that are predicted during a run have the bits of those predicted before") {
  // Parts of chips and pieces of threads end within the blocks of eight slots.
  for (const char* device_name : {"emulator:engine=native", "emulator:engine=vector,chips=2",
                                  "emulator:engine=native,boards=2"}) {
    gdr::Device device = gdr::Device::open(device_name);
    MovingGravity one(device, "gravity_jerk_long"), other(device, "gravity_jerk_long");
    const std::vector<MovingSource> particles = random_particles(1200);
    std::mt19937 engine(5);
    for (const std::size_t n : {1000, 1001, 1200, 77, 5, 997, 1000}) {
      CAPTURE(device_name, n);
      for (std::size_t k = 0; k < n; ++k)
        for (MovingGravity* g : {&one, &other}) g->sources.set(k, particles[k]);
      for (int step = 0; step < 12; ++step) {
        const double time = 0.25 * step + (step % 3 == 2 ? -0.25 : 0);  // sometimes the same again
        for (int changes = 0; changes < 40; ++changes) {
          const std::size_t slot = engine() % n;
          MovingSource p = particles[engine() % particles.size()];
          p.time = time;
          for (MovingGravity* g : {&one, &other}) g->sources.set(slot, p);
        }
        for (MovingGravity* g : {&one, &other}) g->set_targets();
        one.sources.run(one.job, time, n, one.results);
        other.sources.predict(other.job, time, n);
        other.job.run(other.results);
        REQUIRE(one.acc == other.acc);
        REQUIRE(one.jerk == other.jerk);
        REQUIRE(one.pot == other.pot);
      }
    }
  }
}

TEST_CASE("after sources that cannot be predicted during a run the next run is right") {
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  MovingGravity g(device, "gravity_jerk_long");
  std::vector<MovingSource> particles = random_particles(600);
  for (std::size_t k = 0; k < particles.size(); ++k) g.sources.set(k, particles[k]);
  g.set_targets();
  g.sources.run(g.job, 0.5, 600, g.results);
  const std::vector<double> right = g.acc;
  MovingSource wrong = particles[432];
  wrong.x[1] = std::numeric_limits<double>::infinity();
  g.sources.set(432, wrong);
  CHECK_THROWS_WITH(g.sources.run(g.job, 0.75, 600, g.results),
                    Catch::Contains("\"yj\"[432] is infinite"));
  g.sources.set(432, particles[432]);
  g.sources.run(g.job, 0.5, 600, g.results);
  CHECK(g.acc == right);
}
