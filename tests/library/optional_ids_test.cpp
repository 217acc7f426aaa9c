// Kernels with ids without arrays of ids: targets have the id -1 then, and sources -2.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gdr/kernels/gravity.hpp"
#include "gdr/sets.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"

using namespace library_test;

namespace {

constexpr std::size_t n = 37;
constexpr double eps = 0.125;

struct PlainForces {
  std::vector<double> ax = std::vector<double>(n), pot = std::vector<double>(n);
  std::vector<gdr::NamedResult> arrays() { return {{"ax", ax}, {"pot", pot}}; }
  friend bool operator==(const PlainForces&, const PlainForces&) = default;
};

/// Particles that are targets and sources, with arrays of ids that may be left out.
struct Particles {
  std::vector<double> x = rough_values(n, 1), y = rough_values(n, 2), z = rough_values(n, 3);
  std::vector<double> m = std::vector<double>(n, 1.0 / 64);

  std::vector<gdr::NamedInput> sources(const std::vector<std::int64_t>& ids) const {
    std::vector<gdr::NamedInput> all = {{"xj", x}, {"yj", y}, {"zj", z}, {"mj", m}};
    if (!ids.empty()) all.insert(all.begin(), {"idj", ids.data()});
    return all;
  }
  std::vector<gdr::NamedInput> targets(const std::vector<std::int64_t>& ids) const {
    std::vector<gdr::NamedInput> all = {{"xi", x}, {"yi", y}, {"zi", z}};
    if (!ids.empty()) all.push_back({"idi", ids.data()});
    return all;
  }
};

const std::vector<std::int64_t> none, minus_one(n, -1), minus_two(n, -2);

std::vector<std::int64_t> numbers() {
  std::vector<std::int64_t> ids(n);
  for (std::size_t i = 0; i < n; ++i) ids[i] = static_cast<std::int64_t>(i);
  return ids;
}

PlainForces forces(gdr::Job& job) {
  PlainForces f;
  job.run(f.arrays());
  return f;
}

gdr::Job gravity_job(gdr::Device& device) {
  gdr::Job job = device.job(gdr::Kernel::builtin("gravity"));
  job.set("eps2", eps * eps);
  return job;
}

}  // namespace

TEST_CASE("without ids of targets, sources or both no pair is excluded") {
  const char* const name =
      GENERATE("emulator:engine=native", "emulator:engine=native,isa=portable",
               "emulator:engine=native-float", "emulator:engine=vector,boards=2");
  CAPTURE(name);
  gdr::Device device = gdr::Device::open(name);
  gdr::Job job = gravity_job(device);
  const Particles p;
  const auto compute = [&](const auto& idi, const auto& idj) {
    job.sources(n, p.sources(idj));
    job.targets(n, p.targets(idi));
    return forces(job);
  };
  const std::vector<std::int64_t> ids = numbers();
  const PlainForces all = compute(minus_one, minus_two), others = compute(ids, ids);
  for (std::size_t i = 0; i < n; ++i) {
    const double self = -p.m[i] / eps;
    CHECK(std::abs(all.pot[i] - others.pot[i] - self) < 1e-4);
  }
  CHECK(compute(none, none) == all);
  CHECK(compute(ids, none) == all);
  CHECK(compute(none, ids) == all);
  CHECK(compute(minus_two, none) != all);  // the id of sources without one
  // Jobs with other arrays before: their ids are not used again.
  CHECK(compute(ids, ids) == others);
  CHECK(compute(none, none) == all);
}

TEST_CASE("declared default ids of targets and sources are in every record") {
  gdr::Device device = gdr::Device::open("exact:boards=2,chips=1,blocks=2,pes=2");
  gdr::Job job = device.job(gdr::Kernel::compile(R"(
VARI long xi; VARI int idi = -1 as id;
VARJ long xj; VARJ int idj = -2 as id;
VARF long sum; VARF int targets; VARF int sources;
sum += xj - xi;
targets += idi;
sources += idj;
)"));
  const std::vector<double> x = exact_values(500, 1);
  job.sources(500, {{"xj", x}});
  job.targets(100, {{"xi", x}});
  std::vector<double> sum(100);
  std::vector<std::int64_t> targets(100), sources(100);
  job.run({{"sum", sum}, {"targets", targets.data()}, {"sources", sources.data()}});
  double total = 0;
  for (const double v : x) total += v;
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(sum[i] == total - 500 * x[i]);
    CHECK(targets[i] == -500);
    CHECK(sources[i] == -1000);
  }
}

TEST_CASE("updated sources without ids keep theirs") {
  for (const char* name : {"emulator:engine=native", "emulator:engine=vector"}) {
    gdr::Device device = gdr::Device::open(name);
    gdr::Job job = gravity_job(device), fresh = gravity_job(device);
    Particles p;
    const std::vector<std::int64_t> ids = numbers();
    job.sources(n, p.sources(ids));
    p.m.assign(n, 1.0 / 32);
    const std::vector<std::int32_t> first{0, 1, 2};
    job.update_sources(3, n - 3, {{"mj", p.m}});
    job.update_sources(first, {{"mj", p.m}});
    job.targets(n, p.targets(ids));
    fresh.sources(n, p.sources(ids));
    fresh.targets(n, p.targets(ids));
    const PlainForces expected = forces(fresh);
    CHECK(forces(job) == expected);
    // Ids may follow later.
    job.sources(n, p.sources(none));
    CHECK(forces(job) != expected);
    job.update_sources(0, n, {{"idj", ids.data()}});
    CHECK(forces(job) == expected);
  }
}

TEST_CASE("sets and segments without ids have the default ones") {
  const char* const name = GENERATE("emulator:engine=native,threads=2", "emulator:engine=vector");
  gdr::Device device = gdr::Device::open(name);
  gdr::SetJob job(device, gdr::Kernel::builtin("gravity"));
  job.set("eps2", eps * eps);
  const Particles p;
  const std::vector<std::int64_t> ids = numbers();
  const std::vector<std::int32_t> index{7, 3, 3, 12};
  const auto compute = [&](const auto& idi, const auto& idj) {
    const std::vector<gdr::NamedInput> targets = p.targets(idi), sources = p.sources(idj),
                                       numbered = p.sources(ids);
    const std::vector<gdr::SourceSegment> segments = {
        {n, numbered}, {n, sources}, {index.size(), sources, index.data(), n}};
    std::vector<PlainForces> of_sets(20);
    std::vector<std::vector<gdr::NamedResult>> results;
    std::vector<gdr::InteractionSet> sets;
    for (PlainForces& f : of_sets) results.push_back(f.arrays());
    for (const auto& arrays : results) sets.push_back({n, targets, segments, arrays});
    job.run(sets);
    return of_sets;
  };
  const std::vector<PlainForces> all = compute(minus_one, minus_two), others = compute(ids, ids);
  CHECK(all != others);
  CHECK(compute(none, none) == all);
  CHECK(compute(ids, none) == compute(ids, minus_two));
  CHECK(compute(ids, none) != all);
  CHECK(compute(ids, ids) == others);
}

TEST_CASE("a variable holds the quantity that its kernel declares, whatever its name") {
  const gdr::Kernel named = gdr::Kernel::compile(
      "VARI b, a as pos; VARI int star = -5 as id; VARI int idi; VARJ xj, mj; CONST eps2;\n"
      "VARF f; f += mj*(xj - a) + b*eps2 + star + idi;");
  const auto variable = [](const gdr::Kernel& kernel, const std::string& name) {
    const auto& all = kernel.variables();
    return *std::ranges::find(all, name, &gdr::KernelVariable::name);
  };
  CHECK((variable(named, "b").quantity == "pos" && variable(named, "b").component == 0));
  CHECK((variable(named, "a").quantity == "pos" && variable(named, "a").component == 1));
  CHECK((variable(named, "star").quantity == "id" && variable(named, "star").default_value == -5));
  for (const char* name : {"idi", "xj", "mj", "eps2"}) {
    CHECK(variable(named, name).quantity.empty());
    CHECK(!variable(named, name).default_value);
  }
  const gdr::Kernel plain = gdr::Kernel::compile(
      "VARI z, xi; VARI int slot, idi; VARJ vyj, m; VARJ int idj; CONST eps2; VARF f;\n"
      "f += m*(vyj - xi) + z*eps2 + slot + idi - idj;");
  for (const gdr::KernelVariable& v : plain.variables()) {
    CAPTURE(v.name);
    CHECK(v.quantity.empty());
    CHECK((v.component == 0 && !v.squared && !v.default_value));
  }
}

TEST_CASE("a job passes the default values that a kernel declares") {
  const gdr::Kernel kernel = gdr::Kernel::compile(
      "VARI a; VARI int p = 40; VARJ b; VARJ int q = 2; VARF int f; VARF g;\n"
      "f += p + q; g += a*b;");
  gdr::Device device = gdr::Device::open("emulator:chips=1,blocks=1");
  gdr::Job job = device.job(kernel);
  const std::vector<double> one(3, 1.0);
  job.sources(3, {{"b", one}});
  job.targets(3, {{"a", one}});
  std::vector<std::int64_t> f(3);
  job.run({{"f", f}});
  CHECK(f == std::vector<std::int64_t>(3, 3 * 42));
  const gdr::Kernel stored =
      gdr::Kernel::from_object(kernel.object().data(), kernel.object().size());
  for (std::size_t k = 0; k < kernel.variables().size(); ++k)
    CHECK(stored.variables()[k].default_value == kernel.variables()[k].default_value);
}

TEST_CASE("every kernel of the library declares what its inputs are") {
  for (const std::string& name : gdr::Kernel::builtin_names()) {
    CAPTURE(name);
    for (const gdr::KernelVariable& v : gdr::Kernel::builtin(name).variables()) {
      CAPTURE(v.name);
      const bool item = v.role == gdr::Role::Target || v.role == gdr::Role::Source;
      CHECK((!item || !v.quantity.empty()));
      CHECK(v.default_value.has_value() == (v.quantity == "id"));
    }
  }
}

TEST_CASE("the structures of the library's kernels begin with the default ids") {
  CHECK(gdr::kernels::gravity::Target().idi == -1);
  CHECK(gdr::kernels::gravity::Source().idj == -2);
}

TEST_CASE("a job without ids of a kernel that declares no default value names the missing arrays") {
  gdr::Device device = gdr::Device::open("emulator:chips=1,blocks=1");
  gdr::Job job = device.job(
      gdr::Kernel::compile("VARI int idi; VARJ int idj; VARJ m; VARF f; f += idi != idj ? m : 0;"));
  const std::vector<double> one(3, 1.0);
  try {
    job.sources(3, {{"m", one}});
    FAIL("no error");
  } catch (const gdr::Error& e) {
    CHECK(std::string(e.what()).find("no array is given for source variable \"idj\"") !=
          std::string::npos);
    CHECK(std::string(e.what()).find("an integer a default value") != std::string::npos);
  }
}
