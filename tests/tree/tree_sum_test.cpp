// TreeSum: laws of users and of the library with a tree, compared with plain sums.
#include "gdr/tree_sum.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "gdr/error.hpp"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"
#include "tree/bodies.hpp"

using namespace gdr;
using namespace tree_test;
using gdr::test::contains;

namespace {

const char* const law_yukawa = R"(
kernel yukawa;
CONST kappa;
VARI xi, yi, zi as pos;
VARJ xj, yj, zj as pos; VARJ qj as charge;
VARF fx, fy, fz, pot;
dx = xi - xj; dy = yi - yj; dz = zi - zj;
r2 = dx*dx + dy*dy + dz*dz;
skip if (r2 == 0);
rinv = rsqrt(r2); r = r2*rinv;
u = qj*exp(-(kappa*r))*rinv;
f = u*(kappa + rinv)*rinv;
fx += f*dx; fy += f*dy; fz += f*dz; pot += u;
)";

const char* const law_stokeslet = R"(
kernel stokeslet;
VARI xi, yi, zi as pos;
VARJ xj, yj, zj as pos; VARJ vec3 force;
VARF vec3 u;
dx = xi - xj; dy = yi - yj; dz = zi - zj;
r2 = dx*dx + dy*dy + dz*dz;
skip if (r2 == 0);
rinv = rsqrt(r2);
along = (force.x*dx + force.y*dy + force.z*dz)*rinv*rinv*rinv;
u.x += force.x*rinv + along*dx; u.y += force.y*rinv + along*dy; u.z += force.z*rinv + along*dz;
)";

const char* const law_waves = R"(
kernel waves;
CONST wavenumber;
VARI xi, yi, zi as pos;
VARJ xj, yj, zj as pos; VARJ qj as charge;
VARF pot;
dx = xi - xj; dy = yi - yj; dz = zi - zj;
r2 = dx*dx + dy*dy + dz*dz;
pot += qj*cos(wavenumber*sqrt(r2));
)";

/// The particles of a call and its results, with the numbers of a row.
struct Problem {
  std::vector<double> pos, targets;
  std::vector<double> charge;  ///< per source; three for each if the law has a vector
  bool own_targets = false;
  std::size_t target_count() const { return (own_targets ? targets : pos).size() / 3; }
};

Problem problem_of(const Bodies& b, std::size_t charges = 1) {
  Problem p{b.x, {}, {}, false};
  for (std::size_t k = 0; k < b.size() * charges; ++k)
    p.charge.push_back(std::sin(7 * static_cast<double>(k) + 1) + 0.3);
  return p;
}

using Term = std::function<void(const double* d, const double* charge, double* sums)>;

/// The plain sum: `columns` results for each target.
std::vector<double> plain(const Problem& p, std::size_t columns, const Term& term) {
  const std::vector<double>& at = p.own_targets ? p.targets : p.pos;
  const std::size_t n = p.pos.size() / 3, charges = p.charge.size() / n;
  std::vector<double> sums(p.target_count() * columns, 0.0);
  for (std::size_t i = 0; i < p.target_count(); ++i)
    for (std::size_t j = 0; j < n; ++j) {
      double d[3];
      for (std::size_t c = 0; c < 3; ++c) d[c] = at[3 * i + c] - p.pos[3 * j + c];
      if (d[0] != 0 || d[1] != 0 || d[2] != 0) term(d, &p.charge[charges * j], &sums[columns * i]);
    }
  return sums;
}

void add_yukawa(double kappa, const double* d, const double* q, double* sums) {
  const double r = std::hypot(d[0], d[1], d[2]), u = *q * std::exp(-kappa * r) / r;
  for (std::size_t c = 0; c < 3; ++c) sums[c] += u * (kappa + 1 / r) / r * d[c];
  sums[3] += u;
}

void add_stokeslet(const double* d, const double* f, double* sums) {
  const double r = std::hypot(d[0], d[1], d[2]);
  const double along = (f[0] * d[0] + f[1] * d[1] + f[2] * d[2]) / (r * r * r);
  for (std::size_t c = 0; c < 3; ++c) sums[c] += f[c] / r + along * d[c];
}

struct Found {
  std::vector<double> values;  ///< rows of results
  TreeSumReport report;
};

TreeCall call_of(const Problem& p) {
  TreeCall call{.pos = p.pos};
  if (p.own_targets) call.target_pos = p.targets;
  return call;
}

Found yukawa_of(const Problem& p, const TreeSumOptions& options, double kappa = 2,
                const std::string& device_name = "native") {
  Device device = Device::open(device_name);
  TreeSum sum(device, Kernel::compile(law_yukawa), options);
  sum.set("kappa", kappa);
  Found found{std::vector<double>(4 * p.target_count(), -77), {}};
  const NamedInput charge{"qj", p.charge};
  std::vector<NamedResult> results;
  const char* const names[]{"fx", "fy", "fz", "pot"};
  for (std::size_t k = 0; k < 4 && !found.values.empty(); ++k)
    results.push_back({names[k], {&found.values[k], 4 * sizeof(double)}});
  TreeCall call = call_of(p);
  call.sources = {&charge, 1};
  call.results = results;
  found.report = sum.run(call);
  return found;
}

Found waves_of(const Problem& p, const TreeSumOptions& options) {
  Device device = Device::open("native");
  TreeSum sum(device, Kernel::compile(law_waves), options);
  sum.set("wavenumber", 3000);
  Found found{std::vector<double>(p.target_count(), -77), {}};
  const NamedInput charge{"qj", p.charge};
  const NamedResult pot{"pot", found.values};
  TreeCall call = call_of(p);
  call.sources = {&charge, 1};
  call.results = {&pot, 1};
  found.report = sum.run(call);
  return found;
}

Found stokeslet_of(const Problem& p, const TreeSumOptions& options) {
  Device device = Device::open("native");
  TreeSum sum(device, Kernel::compile(law_stokeslet), options);
  Found found{std::vector<double>(3 * p.target_count(), -77), {}};
  const NamedInput force{"force", p.charge};
  const NamedResult u{"u", found.values};
  TreeCall call = call_of(p);
  call.sources = {&force, 1};
  call.results = {&u, 1};
  found.report = sum.run(call);
  return found;
}

/// Root mean square of the difference of some columns, relative to that of the second.
double error_of(const std::vector<double>& got, const std::vector<double>& right,
                std::size_t columns, std::size_t first, std::size_t count) {
  double wrong = 0, whole = 0;
  for (std::size_t k = 0; k < right.size(); ++k) {
    if (k % columns < first || k % columns >= first + count) continue;
    wrong += (got[k] - right[k]) * (got[k] - right[k]);
    whole += right[k] * right[k];
  }
  return std::sqrt(wrong / whole);
}

Term yukawa_term(double kappa) {
  return [kappa](const double* d, const double* q, double* s) { add_yukawa(kappa, d, q, s); };
}

/// A tree although the particles are few.
TreeSumOptions with_degree(unsigned degree, double accuracy) {
  return {.accuracy = accuracy, .degree = degree};
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("sums of laws with charges have the accuracy that was asked for") {
  for (const char* name : {"plummer", "cube", "two clusters", "charges"}) {
    const Bodies b = bodies_named(name, 3000);
    const Problem one = problem_of(b), three = problem_of(b, 3);
    const std::vector<double> right = plain(one, 4, yukawa_term(2));
    const std::vector<double> right_flow = plain(three, 3, add_stokeslet);
    for (const double accuracy : {1e-2, 1e-4, 1e-6}) {
      INFO(name << ", " << accuracy);
      const unsigned degree = accuracy > 1e-3 ? 2 : accuracy > 1e-5 ? 4 : 6;
      const Found got = yukawa_of(one, with_degree(degree, accuracy));
      CHECK(got.report.reason.empty());
      CHECK(got.report.degree == degree);
      CHECK(got.report.error <= accuracy);
      CHECK(error_of(got.values, right, 4, 0, 3) < 1.3 * accuracy);
      CHECK(error_of(got.values, right, 4, 3, 1) < 1.3 * accuracy);
      const Found flow = stokeslet_of(three, with_degree(degree, accuracy));
      CHECK(flow.report.reason.empty());
      CHECK(error_of(flow.values, right_flow, 3, 0, 3) < 1.3 * accuracy);
    }
  }
}

TEST_CASE("errors are those of results, or of the vectors that they are components of") {
  const Found got = yukawa_of(problem_of(cube(3000)), {.degree = 3, .theta = 0.6});
  REQUIRE(got.report.results.size() == 2);
  CHECK(got.report.results[0].name == "fx, fy, fz");
  CHECK(got.report.results[1].name == "pot");
  CHECK(got.report.theta == 0.6);
  CHECK(got.report.error == std::max(got.report.results[0].error, got.report.results[1].error));
  CHECK(got.report.sources_per_target < 3000);
  const Found flow = stokeslet_of(problem_of(cube(3000), 3), {.degree = 3, .theta = 0.6});
  REQUIRE(flow.report.results.size() == 1);
  CHECK(flow.report.results[0].name == "u");
}

TEST_CASE("targets may be others than the sources, few, and far away") {
  Problem p = problem_of(cube(3000));
  p.own_targets = true;
  for (const std::size_t count : {1, 3, 700}) {
    p.targets = plummer(count, 9).x;
    p.targets[0] += 3;
    const Found got = yukawa_of(p, with_degree(4, 1e-4));
    CHECK(got.report.reason.empty());
    CHECK(error_of(got.values, plain(p, 4, yukawa_term(2)), 4, 3, 1) < 2e-4);
  }
  p.targets.clear();
  CHECK(yukawa_of(p, with_degree(4, 1e-4)).report.reason == "there are no particles");
}

TEST_CASE("particles in a plane, on a line, and at one place") {
  for (const unsigned dimensions : {2U, 1U}) {
    Bodies b = cube(3000);
    for (std::size_t i = 0; i < b.size(); ++i)
      for (std::size_t c = dimensions; c < 3; ++c) b.x[3 * i + c] = -3;
    const Problem p = problem_of(b);
    const Found got = yukawa_of(p, with_degree(4, 1e-4));
    CHECK(got.report.reason.empty());
    const std::vector<double> right = plain(p, 4, yukawa_term(2));
    CHECK(error_of(got.values, right, 4, 0, 3) < 1.3e-4);
    CHECK(error_of(got.values, right, 4, 3, 1) < 1.3e-4);
  }
  Problem p = problem_of(cube(2000));
  p.pos.assign(p.pos.size(), 0.5);
  const Found all = yukawa_of(p, {.degree = 2, .theta = 0.5});
  CHECK(std::ranges::all_of(all.values, [](double v) { return v == 0; }));
  p.own_targets = true;
  p.targets = {0.5, 0.5, 2.5, 0.5, 0.5, 1.5};
  const Found far = yukawa_of(p, {.degree = 2, .theta = 0.5});
  CHECK(error_of(far.values, plain(p, 4, yukawa_term(2)), 4, 3, 1) < 1e-6);
  CHECK(far.report.sources_per_target < 2000);
}

TEST_CASE("few particles are summed directly, with the bits of a job") {
  const Problem p = problem_of(cube(500));
  const Found got = yukawa_of(p, {.accuracy = 1e-3});
  CHECK(got.report.degree == 0);
  CHECK(got.report.reason == "there are few particles");
  CHECK(got.report.sources_per_target == 500);
  CHECK(error_of(got.values, plain(p, 4, yukawa_term(2)), 4, 0, 4) < 1e-6);
  CHECK(yukawa_of(problem_of(cube(0)), {}).report.reason == "there are no particles");
  CHECK(yukawa_of(problem_of(cube(1)), {}).values == std::vector<double>(4, 0.0));
  Problem far = problem_of(cube(2000));
  far.pos[5] = 1e200;
  CHECK(yukawa_of(far, with_degree(3, 1e-3)).report.reason.starts_with("coordinates"));
}

TEST_CASE("a choice that its cost ends does not say that no tree is as accurate") {
  // Waves much shorter than the smallest clusters. Higher degrees than the first ones cost too
  // much.
  const Bodies b = cube(20'000);
  for (const std::size_t samples : {1, 4}) {
    CAPTURE(samples);
    const Found got = waves_of(problem_of(b), {.accuracy = 1e-3, .samples = samples});
    CHECK(got.report.degree == 0);
    CHECK(got.report.reason == "they are faster");
  }
}

TEST_CASE("charges of zero, of one sign, and huge ones") {
  Problem p = problem_of(cube(2000));
  p.charge.assign(2000, 0.0);
  const Found nothing = yukawa_of(p, with_degree(3, 1e-3));
  CHECK(std::ranges::all_of(nothing.values, [](double v) { return v == 0; }));
  CHECK(nothing.report.reason.empty());
  CHECK(nothing.report.error == 0);
  p.charge[77] = 2;
  const Found one = yukawa_of(p, with_degree(3, 1e-3));
  CHECK(error_of(one.values, plain(p, 4, yukawa_term(2)), 4, 3, 1) < 1.3e-3);
  p.charge.assign(2000, 1e200);
  const Found huge = yukawa_of(p, with_degree(3, 1e-3));
  CHECK(huge.report.reason == "charges are too large to be added");
  CHECK(std::abs(huge.values[3] / plain(p, 4, yukawa_term(2))[3] - 1) < 1e-6);
}

TEST_CASE("the few targets that have most of the mean squares are in the sample") {
  const Problem p = problem_of(cube(2000));
  const Found got = yukawa_of(p, with_degree(3, 1e-6), 500);
  CHECK(error_of(got.values, plain(p, 4, yukawa_term(500)), 4, 0, 3) < 1.1e-6);
}

TEST_CASE("sums do not depend on the number of threads") {
  const Problem p = problem_of(plummer(6000));
  const Found one = yukawa_of(p, with_degree(3, 1e-3), 2, "native:threads=1");
  const Found three = yukawa_of(p, with_degree(3, 1e-3), 2, "native:threads=3");
  CHECK(one.values == three.values);
  CHECK(one.report.error == three.report.error);
}

TEST_CASE("trees serve exact engines and boards") {
  const Problem p = problem_of(plummer(1500));
  const std::vector<double> right = plain(p, 4, yukawa_term(2));
  for (const char* const device : {"exact", "native-float", "emulator:boards=2,engine=vector"}) {
    INFO(device);
    const Found got = yukawa_of(p, {.degree = 3, .theta = 0.5}, 2, device);
    CHECK(error_of(got.values, right, 4, 0, 4) < 1e-2);
    CHECK(got.report.error < 1e-2);
  }
}

TEST_CASE("a kernel of the library with velocities: gravity with its derivative") {
  const Bodies b = plummer(4000);
  const std::size_t n = b.size();
  std::vector<double> v, acc(3 * n), jerk(3 * n), right(3 * n), right_jerk(3 * n);
  for (std::size_t k = 0; k < 3 * n; ++k) v.push_back(std::sin(5 * static_cast<double>(k)));
  const auto input = [](const char* name, const std::vector<double>& a, std::size_t k) {
    return NamedInput{name, ConstArray(&a[k], 3 * sizeof(double))};
  };
  Device device = Device::open("native");
  const auto run = [&](const TreeSumOptions& options, std::vector<double>& a,
                       std::vector<double>& j) {
    TreeSum sum(device, Kernel::builtin("gravity_jerk"), options);
    sum.set("eps2", 1e-4);
    CHECK(sum.charges() == std::vector<std::string>{"mj", "vxj", "vyj", "vzj"});
    const std::vector<NamedInput> sources{
        {"mj", b.m}, input("vxj", v, 0), input("vyj", v, 1), input("vzj", v, 2)};
    const std::vector<NamedInput> targets{input("vxi", v, 0), input("vyi", v, 1),
                                          input("vzi", v, 2)};
    const std::vector<NamedResult> results{{"ax", {&a[0], 24}}, {"ay", {&a[1], 24}},
                                           {"az", {&a[2], 24}}, {"jx", {&j[0], 24}},
                                           {"jy", {&j[1], 24}}, {"jz", {&j[2], 24}}};
    return sum.run({.pos = b.x, .sources = sources, .targets = targets, .results = results});
  };
  const TreeSumReport report = run(with_degree(4, 1e-4), acc, jerk);
  CHECK(report.reason.empty());
  CHECK(report.sources_per_target < 4000);
  REQUIRE(report.results.size() == 2);
  CHECK(run({}, right, right_jerk).reason == "there are few particles");
  CHECK(error_of(acc, right, 3, 0, 3) < 1.3e-4);
  CHECK(error_of(jerk, right_jerk, 3, 0, 3) < 1.3e-4);
}

TEST_CASE("equal numbers of targets and sources exclude the same pairs as direct sums") {
  const Bodies b = cube(3000);
  const std::size_t n = b.size();
  Device device = Device::open("native");
  std::vector<std::int64_t> ids(n);
  for (std::size_t k = 0; k < n; ++k) ids[k] = static_cast<std::int64_t>(k) - 1500;
  const auto potential = [&](const std::vector<std::int64_t>& of, const TreeSumOptions& options,
                             TreeSumReport& report) {
    TreeSum sum(device, Kernel::builtin("coulomb"), options);
    std::vector<double> pot(n);
    const NamedInput sources[]{{"qj", b.m}, {"idj", of}};
    const NamedInput targets[]{{"idi", of}};
    const NamedResult results[]{{"pot", pot}};
    report = sum.run({.pos = b.x, .sources = sources, .targets = targets, .results = results});
    return pot;
  };
  TreeSumReport tree, direct;
  // Numbers that proxies must not have are among these.
  const auto got = potential(ids, with_degree(4, 1e-5), tree);
  const auto right = potential(ids, {}, direct);
  CHECK(tree.reason.empty());
  CHECK(error_of(got, right, 1, 0, 1) < 1.3e-5);
  for (std::size_t k = 0; k < n; ++k) ids[k] = static_cast<std::int64_t>(k % 1000);
  CHECK(potential(ids, with_degree(4, 1e-5), tree) == potential(ids, {}, direct));
  CHECK(contains(tree.reason, "equal numbers"));
}

TEST_CASE("errors of TreeSum say what is wrong") {
  Device device = Device::open("native");
  const auto construct = [&](const Kernel& kernel, const TreeSumOptions& options = {}) {
    return message_of([&] { TreeSum(device, kernel, options); });
  };
  CHECK(contains(construct(Kernel::builtin("lennard_jones")), "a term of result \"fx\" has no"));
  const Kernel yukawa = Kernel::compile(law_yukawa);
  const Kernel object = Kernel::from_object(yukawa.object().data(), yukawa.object().size());
  CHECK(contains(construct(object), "has no text"));
  CHECK(contains(construct(Kernel::compile("VARI xi; VARJ xj, qj; VARF f; f += qj*(xj - xi);")),
                 "a tree needs three of each"));
  CHECK(contains(construct(yukawa, {.accuracy = 0}), "accuracy must be"));
  CHECK(contains(construct(yukawa, {.accuracy = -1e-9}), "it is -1e-09"));
  CHECK(contains(construct(yukawa, {.theta = 1.5}), "theta must be above 0 and at most 0.75"));
  CHECK(contains(construct(yukawa, {.theta = 0.8}), "at most 0.75"));
  CHECK(contains(construct(yukawa, {.degree = 9}), "degree must be 1 to 8"));

  Problem p = problem_of(cube(2000));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto run = [&] { return message_of([&] { yukawa_of(p, with_degree(2, 1e-2)); }); };
  p.charge[1234] = nan;
  CHECK(contains(run(), "qj[1234] is nan"));
  p.charge[1234] = 1;
  p.pos[17] = std::numeric_limits<double>::infinity();
  CHECK(contains(run(), "pos[5], coordinate 2, is inf"));
  p.pos[17] = 1;
  p.charge.pop_back();
  CHECK_FALSE(run().empty());
  p.pos.pop_back();
  CHECK(contains(run(), "expected three for each particle"));
}
