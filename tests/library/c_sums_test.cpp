// The C interface of sums within a cut-off, of trees and of neighbours has the bits of the C++ one.
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gdr.h"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"

namespace {

struct LiquidSums {
  std::vector<double> fx, fy, fz, u, virial;
  explicit LiquidSums(std::size_t n) : fx(n), fy(n), fz(n), u(n), virial(n) {}
  friend bool operator==(const LiquidSums&, const LiquidSums&) = default;

  std::vector<gdr::NamedResult> named() {
    return {{"fx", fx}, {"fy", fy}, {"fz", fz}, {"u", u}, {"virial", virial}};
  }
  std::vector<gdr_result> named_in_c() {
    return {{"fx", fx.data(), GDR_F64, 0},
            {"fy", fy.data(), GDR_F64, 0},
            {"fz", fz.data(), GDR_F64, 0},
            {"u", u.data(), GDR_F64, 0},
            {"virial", virial.data(), GDR_F64, 0}};
  }
};

std::vector<double> places(std::size_t n, double size, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> at(0, size);
  std::vector<double> x(3 * n);
  for (double& v : x) v = at(random);
  return x;
}

struct OpenInC {
  gdr_device* device = nullptr;
  OpenInC() { CHECK(gdr_device_open("emulator:engine=native,threads=2", &device) == GDR_OK); }
  OpenInC(const OpenInC&) = delete;
  OpenInC& operator=(const OpenInC&) = delete;
  ~OpenInC() { gdr_device_close(device); }
};

gdr::Device open_device() { return gdr::Device::open("emulator:engine=native,threads=2"); }

}  // namespace

TEST_CASE("sums within a cut-off have the same bits in C and C++") {
  constexpr std::size_t n = 900;
  constexpr double rc = 2.5;
  const std::vector<double> box = {9, 0, 0, 1, 8, 0, -2, 0.5, 9.5};
  std::vector<double> x = places(n, 9, 5);
  gdr::Device device = open_device();
  gdr::PeriodicBox periodic{{{{9, 0, 0}, {1, 8, 0}, {-2, 0.5, 9.5}}}, {true, false, true}};
  gdr::PairSum sum(device, gdr::Kernel::builtin("lennard_jones"),
                   {.cutoff = {rc}, .box = periodic});
  sum.set("rc2", rc * rc);

  const OpenInC c;
  gdr_kernel* kernel = nullptr;
  gdr_pair_sum* c_sum = nullptr;
  const int directions[] = {1, 0, 1};
  REQUIRE(gdr_kernel_builtin("lennard_jones", &kernel) == GDR_OK);
  REQUIRE(gdr_pair_sum_create(c.device, kernel, rc, -1, 0, &c_sum) == GDR_OK);
  gdr_kernel_free(kernel);
  REQUIRE(gdr_pair_sum_set_box(c_sum, box.data(), directions) == GDR_OK);
  REQUIRE(gdr_pair_sum_set(c_sum, "rc2", rc * rc) == GDR_OK);

  for (unsigned step = 0; step < 4; ++step) {
    LiquidSums expected(n), got(n);
    const auto results = got.named_in_c();
    sum.run({.pos = x, .results = expected.named()});
    REQUIRE(gdr_pair_sum_run(c_sum, n, x.data(), nullptr, 0, nullptr, 0, results.data(),
                             results.size()) == GDR_OK);
    CHECK(got == expected);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] += 0.06 * std::sin(static_cast<double>(k));
  }
  gdr_pair_statistics statistics;
  REQUIRE(gdr_pair_sum_statistics(c_sum, &statistics, sizeof statistics) == GDR_OK);
  const gdr::PairStatistics s = sum.statistics();
  CHECK(statistics.lists_made == s.lists_made);
  CHECK(statistics.pairs == s.pairs);
  CHECK(statistics.sources == s.sources);

  const std::vector<double> targets = places(70, 12, 6);
  LiquidSums expected(70), got(70);
  const auto results = got.named_in_c();
  sum.run({.pos = x, .target_pos = targets, .results = expected.named()});
  REQUIRE(gdr_pair_sum_run_on(c_sum, 70, targets.data(), nullptr, 0, n, x.data(), nullptr, 0,
                              results.data(), results.size()) == GDR_OK);
  CHECK(got == expected);
  gdr_pair_sum_free(c_sum);
}

TEST_CASE("gravity with a tree has the same bits and report in C and C++") {
  constexpr std::size_t n = 4000, m = 300;
  const std::vector<double> x = places(n, 1, 8), targets = places(m, 1.5, 9), mass(n, 1.0 / n);
  gdr::Device device = open_device();
  gdr::Gravity gravity(device);
  const OpenInC c;
  gdr_gravity* c_gravity = nullptr;
  REQUIRE(gdr_gravity_create(c.device, &c_gravity) == GDR_OK);
  const auto compare = [&](const gdr::TreeReport& a, const gdr_tree_report& b) {
    CHECK(static_cast<int>(a.method) == static_cast<int>(b.method));
    CHECK(a.degree == b.degree);
    CHECK(a.theta == b.theta);
    CHECK(a.error == b.error);
    CHECK(a.largest_error == b.largest_error);
    CHECK(a.samples == b.samples);
    CHECK(a.clusters == b.clusters);
    CHECK(a.groups == b.groups);
    CHECK(a.sources_per_target == b.sources_per_target);
  };
  std::vector<double> acc(3 * n), pot(n), c_acc(3 * n), c_pot(n);
  gdr_tree_report report;
  gdr_tree_options multipoles{}, monopoles{};
  multipoles.accuracy = 1e-5, multipoles.method = GDR_TREE_MULTIPOLE;
  multipoles.degree = 3, multipoles.group_size = 100, multipoles.samples = 50;
  monopoles.method = GDR_TREE_MONOPOLE, monopoles.theta = 0.5, monopoles.leaf_size = 10;

  const gdr::TreeReport by_multipoles = gravity.compute(n, x, mass, 0.01, acc, pot,
                                                        {.accuracy = 1e-5,
                                                         .method = gdr::TreeMethod::Multipole,
                                                         .degree = 3,
                                                         .group_size = 100,
                                                         .samples = 50});
  REQUIRE(gdr_gravity_compute_tree(c_gravity, n, x.data(), mass.data(), 0.01, c_acc.data(),
                                   c_pot.data(), &multipoles, sizeof multipoles, &report,
                                   sizeof report) == GDR_OK);
  compare(by_multipoles, report);
  CHECK(acc == c_acc);
  CHECK(pot == c_pot);
  multipoles = {};
  multipoles.accuracy = 1e-5, multipoles.method = GDR_TREE_EXPANSION;
  const gdr::TreeReport by_expansions = gravity.compute(
      n, x, mass, 0.01, acc, pot, {.accuracy = 1e-5, .method = gdr::TreeMethod::Expansion});
  REQUIRE(gdr_gravity_compute_tree(c_gravity, n, x.data(), mass.data(), 0.01, c_acc.data(),
                                   c_pot.data(), &multipoles, sizeof multipoles, &report,
                                   sizeof report) == GDR_OK);
  compare(by_expansions, report);
  CHECK(acc == c_acc);
  CHECK(pot == c_pot);
  const gdr::TreeReport by_monopoles =
      gravity.compute_on(m, targets, n, x, mass, 0, acc, pot,
                         {.method = gdr::TreeMethod::Monopole, .theta = 0.5, .leaf_size = 10});
  REQUIRE(gdr_gravity_compute_tree_on(c_gravity, m, targets.data(), n, x.data(), mass.data(), 0,
                                      c_acc.data(), c_pot.data(), &monopoles, sizeof monopoles,
                                      &report, sizeof report) == GDR_OK);
  compare(by_monopoles, report);
  CHECK(acc == c_acc);
  CHECK(pot == c_pot);
  gdr_gravity_free(c_gravity);
}

TEST_CASE("neighbours in a box are the same in C and C++") {
  constexpr std::size_t n = 500;
  const std::vector<double> x = places(n, 5, 3), box = {5, 0, 0, 0, 5, 0, 0, 0, 6};
  const std::vector<double> radius = {1.1};
  const gdr::NeighbourOptions options{.exclude_same_number = true,
                                      .box = gdr::PeriodicBox::orthorhombic({5, 5, 6})};
  const gdr::NeighbourLists lists = gdr::find_neighbours(x, x, radius, options);
  const gdr::NeighbourPairs pairs = gdr::find_neighbour_pairs(x, x, radius, "ijdDS", options);

  gdr_neighbours* search = nullptr;
  REQUIRE(gdr_neighbours_create(0, &search) == GDR_OK);
  REQUIRE(gdr_neighbours_set_box(search, box.data(), nullptr) == GDR_OK);
  REQUIRE(gdr_neighbours_find(search, n, x.data(), 1, radius.data(), "") == GDR_OK);
  std::size_t targets = 0, entries = 0;
  REQUIRE(gdr_neighbours_counts(search, &targets, &entries) == GDR_OK);
  REQUIRE(entries == lists.indices.size());
  std::vector<std::int64_t> offsets(targets + 1), indices(entries);
  REQUIRE(gdr_neighbours_lists(search, offsets.data(), indices.data()) == GDR_OK);
  CHECK(offsets == lists.offsets);
  CHECK(indices == lists.indices);

  REQUIRE(gdr_neighbours_find(search, n, x.data(), 1, radius.data(), "ijdDS") == GDR_OK);
  REQUIRE(gdr_neighbours_counts(search, &targets, &entries) == GDR_OK);
  REQUIRE(entries == pairs.targets.size());
  std::vector<std::int64_t> i(entries), j(entries), shifts(3 * entries);
  std::vector<double> distances(entries), differences(3 * entries);
  REQUIRE(gdr_neighbours_pairs(search, i.data(), j.data(), distances.data(), differences.data(),
                               shifts.data()) == GDR_OK);
  CHECK(i == pairs.targets);
  CHECK(j == pairs.sources);
  CHECK(distances == pairs.distances);
  CHECK(differences == pairs.differences);
  CHECK(shifts == pairs.shifts);
  gdr_neighbours_free(search);
}
