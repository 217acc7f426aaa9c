// SetJob: many sets in one call, compared with separate Jobs and with plain sums.
#include "gdr/sets.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "gdr/error.hpp"
#include "library/kernels.hpp"
#include "library/refused.hpp"
#include "support/catch.hpp"
#include "support/reaction_kernel.hpp"

using namespace library_test;
using gdr::test::has;
using gdr::test::refused;

namespace {

struct Particle {
  double x, y, z, mass;
  std::int64_t id;
};
struct Force {
  double ax, ay, az, pot;
  friend bool operator==(const Force&, const Force&) = default;
};

constexpr double set_eps2 = 1e-3;
constexpr std::int64_t no_id = -1;
constexpr std::ptrdiff_t step = sizeof(Particle), force_step = sizeof(Force);

std::vector<Particle> particles(std::size_t n, unsigned seed) {
  const std::vector<double> values = rough_values(4 * n, seed);
  std::vector<Particle> list;
  for (std::size_t i = 0; i < n; ++i)
    list.push_back({values[4 * i], values[4 * i + 1], values[4 * i + 2],
                    std::abs(values[4 * i + 3]) / static_cast<double>(n),
                    static_cast<std::int64_t>(i)});
  return list;
}

std::vector<gdr::NamedInput> sources_of(const Particle* p) {
  return {{"xj", {&p->x, step}},
          {"yj", {&p->y, step}},
          {"zj", {&p->z, step}},
          {"mj", {&p->mass, step}},
          {"idj", {&p->id, step}}};
}
std::vector<gdr::NamedInput> targets_of(const Particle* p) {
  return {
      {"xi", {&p->x, step}}, {"yi", {&p->y, step}}, {"zi", {&p->z, step}}, {"idi", {&p->id, step}}};
}
std::vector<gdr::NamedResult> results_of(Force* f) {
  return {{"ax", {&f->ax, force_step}},
          {"ay", {&f->ay, force_step}},
          {"az", {&f->az, force_step}},
          {"pot", {&f->pot, force_step}}};
}

/// A segment with the storage of its arrays and of its index.
struct Segment {
  std::vector<gdr::NamedInput> arrays;
  std::vector<std::int32_t> index = {};
  std::size_t n = 0, items = 0;
  const Particle* first = nullptr;
  const Particle& source(std::size_t k) const {
    return first[index.empty() ? k : static_cast<std::size_t>(index[k])];
  }
};

/// Sets with the storage that they refer to.
struct Sets {
  struct One {
    std::size_t first = 0, n = 0;  ///< targets
    std::vector<gdr::NamedInput> targets;
    std::vector<gdr::NamedResult> results;
    std::vector<Segment> segments;
    std::vector<gdr::SourceSegment> views = {};
  };
  std::vector<Particle> bodies, nodes;
  std::vector<Force> forces;
  std::vector<One> list;

  std::vector<gdr::InteractionSet> sets() {
    std::vector<gdr::InteractionSet> sets;
    for (One& one : list) {
      one.views.clear();
      for (const Segment& s : one.segments)
        one.views.push_back({s.n, s.arrays, s.index.empty() ? nullptr : s.index.data(), s.items});
      sets.push_back({one.n, one.targets, one.views, one.results});
    }
    return sets;
  }
};

/// Sets of several sizes: consecutive sources, an index, two segments, none, no targets.
Sets make_sets(std::size_t count = 9) {
  Sets s{particles(3000, 1), particles(400, 2), {}, {}};
  for (Particle& node : s.nodes) node.id = no_id;
  s.forces.assign(s.bodies.size(), {-7, -7, -7, -7});
  std::size_t first = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t n = k % 4 == 3 ? 0 : 50 + 37 * k;
    Sets::One one{first, n, targets_of(&s.bodies[first]), results_of(&s.forces[first]), {}};
    first += n;
    const std::size_t begin = 100 * k;
    if (k % 5 != 4)
      one.segments.push_back({sources_of(&s.bodies[begin]), {}, 300 + k, 0, &s.bodies[begin]});
    if (k % 3 == 1) {
      Segment chosen{sources_of(s.bodies.data()), {}, 500, s.bodies.size(), s.bodies.data()};
      for (std::size_t i = 0; i < chosen.n; ++i)
        chosen.index.push_back(static_cast<std::int32_t>((i * 1009 + k) % s.bodies.size()));
      one.segments.push_back(chosen);
    }
    if (k % 2 == 1)
      one.segments.push_back({sources_of(s.nodes.data()), {}, 100 * (k % 4), 0, s.nodes.data()});
    s.list.push_back(one);
  }
  return s;
}

/// The results of a Job for each set, with the sources of all segments in one array.
std::vector<Force> by_jobs(gdr::Device& device, const Sets& s) {
  std::vector<Force> forces(s.forces.size(), {-7, -7, -7, -7});
  gdr::Job job = device.job(gdr::Kernel::builtin("gravity"));
  job.set("eps2", set_eps2);
  for (const Sets::One& one : s.list) {
    std::vector<Particle> sources;
    for (const Segment& segment : one.segments)
      for (std::size_t k = 0; k < segment.n; ++k) sources.push_back(segment.source(k));
    job.sources(sources.size(), sources_of(sources.data()));
    job.targets(one.n, targets_of(&s.bodies[one.first]));
    job.run(results_of(&forces[one.first]));
  }
  return forces;
}

/// The largest error relative to the acceleration and to the potential.
double error_of(const Sets& s) {
  double worst = 0;
  for (const Sets::One& one : s.list)
    for (std::size_t i = one.first; i < one.first + one.n; ++i) {
      const Particle& at = s.bodies[i];
      Force sum{0, 0, 0, 0};
      for (const Segment& segment : one.segments)
        for (std::size_t k = 0; k < segment.n; ++k) {
          const Particle& from = segment.source(k);
          if (from.id == at.id) continue;
          const double dx = from.x - at.x, dy = from.y - at.y, dz = from.z - at.z;
          const double r = std::sqrt(dx * dx + dy * dy + dz * dz + set_eps2);
          sum.pot -= from.mass / r;
          sum.ax += from.mass * dx / (r * r * r);
          sum.ay += from.mass * dy / (r * r * r);
          sum.az += from.mass * dz / (r * r * r);
        }
      const Force& f = s.forces[i];
      const double size = std::hypot(sum.ax, sum.ay, sum.az);
      const double off = std::hypot(f.ax - sum.ax, f.ay - sum.ay, f.az - sum.az);
      if (size == 0) {
        worst = std::max(worst, off + std::abs(f.pot));
        continue;
      }
      worst = std::max({worst, off / size, std::abs(f.pot - sum.pot) / -sum.pot});
    }
  return worst;
}

gdr::SetJob set_job(gdr::Device& device) {
  gdr::SetJob job(device, gdr::Kernel::builtin("gravity"));
  job.set("eps2", set_eps2);
  return job;
}

std::vector<Force> by_sets(gdr::Device& device, Sets& s) {
  gdr::SetJob job = set_job(device);
  job.run(s.sets());
  return s.forces;
}

}  // namespace

TEST_CASE("sets have the results of separate jobs") {
  const auto [name, error] = GENERATE(std::pair{"emulator:engine=native", 1e-6},
                                      std::pair{"emulator:engine=native,isa=portable", 1e-6},
                                      std::pair{"emulator:engine=native-float", 1e-4},
                                      std::pair{"emulator:engine=vector,threads=1", 1e-6},
                                      std::pair{"emulator:engine=vector,boards=2", 1e-6},
                                      std::pair{"emulator:engine=native,boards=2", 1e-6},
                                      std::pair{"emulator:engine=native,partition=targets", 1e-6},
                                      std::pair{"emulator:engine=native,partition=sources", 1e-6});
  CAPTURE(name);
  gdr::Device device = gdr::Device::open(name);
  Sets s = make_sets();
  const std::vector<Force> expected = by_jobs(device, s);
  CHECK(by_sets(device, s) == expected);
  CHECK(error_of(s) < error);
}

TEST_CASE("results of sets do not depend on the number of threads") {
  for (const std::string engine : {"native", "native-float"}) {
    std::vector<Force> one_thread;
    for (const char* threads : {"1", "2", "4"}) {
      gdr::Device device =
          gdr::Device::open("emulator:engine=" + engine + ",threads=" + std::string(threads));
      Sets s = make_sets(12);
      const std::vector<Force> forces = by_sets(device, s);
      if (one_thread.empty()) one_thread = forces;
      CHECK(forces == one_thread);
    }
  }
}

TEST_CASE("started sets copy their inputs and have the results of a run") {
  for (const char* name : {"emulator:engine=native", "emulator:engine=vector"}) {
    gdr::Device device = gdr::Device::open(name);
    Sets s = make_sets();
    const std::vector<Force> expected = by_sets(device, s);
    std::fill(s.forces.begin(), s.forces.end(), Force{-7, -7, -7, -7});
    gdr::SetJob job = set_job(device);
    for (int call = 0; call < 2; ++call) {
      const std::vector<Particle> bodies = s.bodies;
      job.start(s.sets());
      for (Particle& p : s.bodies) p = {9, 9, 9, 9, 9};
      for (Sets::One& one : s.list)
        for (Segment& segment : one.segments)
          std::fill(segment.index.begin(), segment.index.end(), -1);
      job.wait();
      CHECK(job.ready());
      CHECK(s.forces == expected);
      Sets again = make_sets();
      s.list.swap(again.list);
      s.bodies.swap(again.bodies);
      s.nodes.swap(again.nodes);
      s.forces.swap(again.forces);
    }
  }
}

TEST_CASE("a call without sets and sets without targets have no effect") {
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=2");
  gdr::SetJob job = set_job(device);
  CHECK_NOTHROW(job.run(std::span<const gdr::InteractionSet>()));
  CHECK_NOTHROW(job.start(std::span<const gdr::InteractionSet>()));
  CHECK_NOTHROW(job.wait());
  const std::vector<gdr::InteractionSet> empty(5);
  CHECK_NOTHROW(job.run(empty));
  CHECK(device.statistics().runs == 0);
}

TEST_CASE("a set without sources has the results of section Start") {
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=1");
  gdr::SetJob job(device, spring());
  const std::vector<double> x = {1, 2, 3};
  std::vector<double> force(3, -7);
  const std::vector<gdr::NamedInput> targets = {{"xi", x}};
  const std::vector<gdr::NamedResult> results = {{"force", force}};
  job.run({{3, targets, {}, results}});
  CHECK(force == std::vector<double>(3, 0.0));
}

TEST_CASE("names may differ from one set to the next") {
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=1");
  gdr::SetJob job(device, spring());
  job.set("k", 1);
  const std::vector<double> x = exact_values(20, 4), m = exact_values(20, 5);
  const std::vector<float> narrow(x.begin(), x.end());
  std::vector<double> first(20), second(20);
  std::vector<float> third(20);
  const std::vector<gdr::NamedInput> ti = {{"xi", x}}, tf = {{"xi", narrow.data()}};
  const std::vector<gdr::NamedInput> sx = {{"xj", x}, {"mj", m}}, sm = {{"mj", m}, {"xj", x}};
  const std::vector<gdr::SourceSegment> a = {{20, sx}}, b = {{10, sm}, {10, sx}};
  const std::vector<gdr::NamedResult> r1 = {{"force", first}}, r2 = {{"force", second}},
                                      r3 = {{"force", third.data()}};
  job.run({{20, ti, a, r1}, {20, tf, a, r2}, {20, ti, b, r3}});
  CHECK(first == spring_reference({x, x, m, 1}).force);
  CHECK(second == first);
  std::vector<double> twice_x(x.begin(), x.begin() + 10), twice_m(m.begin(), m.begin() + 10);
  twice_x.insert(twice_x.end(), x.begin(), x.begin() + 10);
  twice_m.insert(twice_m.end(), m.begin(), m.begin() + 10);
  const std::vector<double> expected = spring_reference({x, twice_x, twice_m, 1}).force;
  for (std::size_t i = 0; i < 20; ++i) CHECK(third[i] == static_cast<float>(expected[i]));
}

TEST_CASE("the statistics of sets are those of their jobs") {
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=2");
  Sets s = make_sets();
  by_jobs(device, s);
  const gdr::Statistics jobs = device.statistics();
  device.reset_statistics();
  by_sets(device, s);
  const gdr::Statistics sets = device.statistics();
  CHECK(sets.runs == jobs.runs);
  CHECK(sets.interactions == jobs.interactions);
  CHECK(sets.flops == jobs.flops);
  CHECK(sets.chip_clocks == jobs.chip_clocks);
  CHECK(sets.predicted_seconds > 0);
  CHECK(sets.host_seconds > 0);
  CHECK(sets.conversion_seconds > 0);
}

TEST_CASE("errors of sets name the set, the segment and the array") {
  for (const char* name : {"emulator:engine=native,threads=2", "emulator:engine=vector"}) {
    gdr::Device device = gdr::Device::open(name);
    gdr::SetJob job = set_job(device);
    const auto message = [&](Sets& s) { return refused([&] { job.run(s.sets()); }); };
    Sets s = make_sets();
    s.list[2].targets[1].name = "yy";
    has(message(s), "set 2: unknown target variable \"yy\"");
    s = make_sets();
    std::erase_if(s.list[1].segments[1].arrays, [](const auto& a) { return a.name == "mj"; });
    has(message(s), "set 1, segment 1: no array is given for source variable \"mj\"");
    s = make_sets();
    s.list[5].segments[0].arrays[3].array.data = nullptr;
    has(message(s), "set 5, segment 0: the array of source variable \"mj\" is a null pointer");
    s = make_sets();
    s.list[1].segments[1].items = 0;
    has(message(s), "set 1, segment 1: an index is given, but the number of items of its arrays");
    s = make_sets();
    s.list[6].results[0].name = "bx";
    has(message(s), "set 6: unknown result \"bx\"");
    // The job is usable afterwards.
    s = make_sets();
    CHECK(by_sets(device, s) == by_jobs(device, s));
  }
}

TEST_CASE("sets without arrays are refused, in the first call and after an error") {
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=1");
  gdr::SetJob job = set_job(device);
  const auto message = [&](Sets& s) { return refused([&] { job.run(s.sets()); }); };
  Sets s = make_sets(1);
  s.list[0].targets.clear();
  has(message(s), "set 0: no array is given for target variable \"xi\"");
  s = make_sets(1);
  s.list[0].segments[0].arrays.clear();
  has(message(s), "set 0, segment 0: no array is given for source variable \"xj\"");
  s = make_sets(1);
  s.list[0].segments[0].arrays.erase(s.list[0].segments[0].arrays.begin() + 3);
  has(message(s), "set 0, segment 0: no array is given for source variable \"mj\"");
  s.list[0].segments[0].arrays.clear();
  has(message(s), "set 0, segment 0: no array is given for source variable \"xj\"");
}

TEST_CASE("bad values name the first set with one, its segment, array and item") {
  for (const char* name : {"emulator:engine=native,threads=1", "emulator:engine=native,threads=4",
                           "emulator:engine=vector"}) {
    gdr::Device device = gdr::Device::open(name);
    gdr::SetJob job = set_job(device);
    const auto message = [&](Sets& s, bool start) {
      try {
        if (start) {
          job.start(s.sets());
          job.wait();
        } else {
          job.run(s.sets());
        }
      } catch (const gdr::Error& e) {
        CHECK(e.category() == gdr::ErrorCategory::Input);
        return std::string(e.what());
      }
      return std::string();
    };
    for (const bool start : {false, true}) {
      Sets s = make_sets(12);
      s.nodes[42].y = std::numeric_limits<double>::quiet_NaN();
      has(message(s, start), "set 1, segment 2: \"yj\"[42] is not a number");
      s = make_sets(12);
      s.list[4].segments[0].index[17] = 3000;
      s.list[7].segments[1].index[3] = -2;
      has(message(s, start), "set 4, segment 0: index[17] is 3000, but the arrays have 3000 items");
      s = make_sets(12);
      const auto item = static_cast<std::size_t>(s.list[4].segments[0].index[250]);
      s.bodies[item].mass = std::numeric_limits<double>::infinity();
      s.list.erase(s.list.begin(), s.list.begin() + 4);
      has(message(s, start), ("\"mj\"[" + std::to_string(item) + "] is infinite").c_str());
    }
  }
}

TEST_CASE("sets that share arrays have the results of sets with arrays of their own") {
  for (const char* name : {"emulator:engine=native,threads=1", "emulator:engine=native,threads=3",
                           "emulator:engine=vector"}) {
    gdr::Device device = gdr::Device::open(name);
    Sets own = make_sets(12);
    const std::vector<Force> expected = by_sets(device, own);
    Sets s = make_sets(12);
    const std::vector<gdr::NamedInput> bodies = sources_of(s.bodies.data());
    const std::vector<gdr::NamedInput> nodes = sources_of(s.nodes.data());
    const std::vector<gdr::InteractionSet> sets = s.sets();
    std::vector<bool> taken(s.bodies.size());
    for (Sets::One& one : s.list)
      for (std::size_t k = 0; k < one.segments.size(); ++k) {
        const Particle* const first = one.segments[k].first;
        const bool is_node = first == s.nodes.data();
        one.views[k].arrays = is_node ? nodes : bodies;
        if (!is_node) one.views[k].first = static_cast<std::size_t>(first - s.bodies.data());
        for (std::size_t i = 0; i < one.segments[k].n && !is_node; ++i)
          taken[static_cast<std::size_t>(&one.segments[k].source(i) - s.bodies.data())] = true;
      }
    gdr::SetJob job = set_job(device);
    job.run(sets);
    CHECK(s.forces == expected);
    s.forces.assign(s.forces.size(), {});
    job.start(sets);
    job.wait();
    CHECK(s.forces[60] == expected[60]);
    // A bad value matters to the sets that take it only.
    const auto unused = static_cast<std::size_t>(
        std::find(taken.begin() + 1000, taken.end(), false) - taken.begin());
    REQUIRE(unused < s.bodies.size());
    const double mass = s.bodies[unused].mass;
    s.bodies[unused].mass = std::numeric_limits<double>::quiet_NaN();
    job.run(sets);
    CHECK(s.forces[60] == expected[60]);
    s.bodies[unused].mass = mass;
    const auto item = static_cast<std::size_t>(s.list[4].segments[0].index[250]);
    s.bodies[item].mass = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(job.run(sets), Catch::Contains("is not a number"));
  }
}

TEST_CASE("sets have neighbour lists of their own") {
  const std::vector<Particle> bodies = particles(700, 5);
  const std::string text =
      "VARI xi, yi; VARI int idi; VARJ xj, yj; VARJ int idj; VARF list near[9]; VARF f;\n"
      "dx = xj - xi; dy = yj - yi; f += dx;\n"
      "if (idi != idj) { if (dx*dx + dy*dy < 0.05) { near append= idj; } }\n";
  const gdr::Kernel kernel = gdr::Kernel::compile(text, "near.gdk");
  struct Lists {
    std::vector<std::int64_t> count = std::vector<std::int64_t>(700, -7);
    std::vector<std::int64_t> ids = std::vector<std::int64_t>(700 * 9, -7);
    bool operator==(const Lists&) const = default;
  };
  const auto results = [](Lists& lists, std::size_t first) -> std::vector<gdr::NamedResult> {
    return {{"near", &lists.count[first]}, {"near[]", &lists.ids[first * 9]}};
  };
  const auto inputs = [&](std::size_t first, bool targets) -> std::vector<gdr::NamedInput> {
    const Particle& p = bodies[first];
    if (targets) return {{"xi", {&p.x, step}}, {"yi", {&p.y, step}}, {"idi", {&p.id, step}}};
    return {{"xj", {&p.x, step}}, {"yj", {&p.y, step}}, {"idj", {&p.id, step}}};
  };
  constexpr std::size_t starts[] = {0, 13, 330, 331, 500, 700};
  Lists right;
  for (const std::string options : {"engine=vector,chips=1,blocks=2,pes=3", "engine=native",
                                    "engine=native,boards=2,threads=2", "engine=native-float"}) {
    gdr::Device device = gdr::Device::open("exact:" + options);
    Lists sets_lists, job_lists;
    gdr::Job job = device.job(kernel);
    std::vector<std::vector<gdr::NamedInput>> arrays;
    std::vector<std::vector<gdr::NamedResult>> wanted;
    std::vector<gdr::SourceSegment> segments;
    for (std::size_t k = 0; k + 1 < std::size(starts); ++k) {
      const std::size_t first = starts[k], n = starts[k + 1] - first, sources = 700 - 100 * k;
      arrays.push_back(inputs(first, true));
      arrays.push_back(inputs(50 * k, false));
      wanted.push_back(results(sets_lists, first));
      segments.emplace_back().n = sources;
      job.targets(n, inputs(first, true));
      job.sources(sources, inputs(50 * k, false));
      job.run(results(job_lists, first));
    }
    std::vector<gdr::InteractionSet> sets;
    for (std::size_t k = 0; k < segments.size(); ++k) {
      segments[k].arrays = arrays[2 * k + 1];
      sets.push_back({starts[k + 1] - starts[k], arrays[2 * k], {&segments[k], 1}, wanted[k]});
    }
    gdr::SetJob(device, kernel).run(sets);
    INFO(options);
    CHECK(sets_lists == job_lists);
    if (options.find("vector") != std::string::npos) right = job_lists;
    CHECK(job_lists == right);
  }
  CHECK(*std::ranges::max_element(right.count) > 9);
  CHECK(*std::ranges::min_element(right.count) >= 0);
}

TEST_CASE("sets of a kernel with outputs are refused") {
  gdr::Device device = gdr::Device::open("emulator:engine=native");
  const gdr::Kernel kernel = gdr::Kernel::assemble(gdr::test::reaction_text, "reaction.gds");
  try {
    const gdr::SetJob job(device, kernel);
    FAIL("no error");
  } catch (const gdr::Error& e) {
    CHECK(e.category() == gdr::ErrorCategory::Unsupported);
    has(e.what(), "has outputs");
  }
}

TEST_CASE("an interrupt cancels started sets, and the job is usable afterwards") {
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=2");
  gdr::SetJob job(device, spring());
  job.set("k", 1);
  const std::vector<double> x = exact_values(20'000, 4), m = exact_values(20'000, 5);
  std::vector<double> force(x.size());
  const std::vector<gdr::NamedInput> targets = {{"xi", x}}, arrays = {{"xj", x}, {"mj", m}};
  const std::vector<gdr::SourceSegment> sources = {{x.size(), arrays}};
  const std::vector<gdr::NamedResult> results = {{"force", force}};
  const std::vector<gdr::InteractionSet> sets(60, {x.size(), targets, sources, {}});
  job.start(sets);
  std::string message;
  for (device.interrupt(); !job.ready(); device.interrupt())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  try {
    job.wait();
  } catch (const gdr::Error& e) {
    CHECK(e.category() == gdr::ErrorCategory::Device);
    message = e.what();
  }
  has(message, "cancelled");
  job.run({{10, targets, {}, results}});
  CHECK(force[9] == 0);
}
