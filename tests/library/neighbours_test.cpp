// Neighbour lists beside a plain double loop.
#include "gdr/neighbours.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gdr/error.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

using namespace gdr;
using Catch::Matchers::Contains;

namespace {

using Lists = std::vector<std::vector<std::int64_t>>;

/// The definition.
template <typename LeftOut>
Lists expected(const std::vector<double>& sources, const std::vector<double>& targets,
               const std::vector<double>& radii, const LeftOut& left_out) {
  Lists lists(targets.size() / 3);
  for (std::size_t i = 0; i < lists.size(); ++i)
    for (std::size_t j = 0; j < sources.size() / 3; ++j) {
      double d[3];
      for (std::size_t c = 0; c < 3; ++c) d[c] = sources[3 * j + c] - targets[3 * i + c];
      const double r = radii[radii.size() == 1 ? 0 : i];
      if (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < r * r && !left_out(i, j))
        lists[i].push_back(static_cast<std::int64_t>(j));
    }
  return lists;
}

Lists in_rows(const NeighbourLists& found) {
  Lists lists;
  for (std::size_t i = 0; i < found.size(); ++i)
    lists.emplace_back(found[i].begin(), found[i].end());
  return lists;
}

constexpr auto nobody = [](std::size_t, std::size_t) { return false; };

/// Points in a cube, in a small clump, on a lattice, and on top of each other.
std::vector<double> points(std::size_t n, unsigned seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> x;
  for (std::size_t k = 0; k < n; ++k) {
    const double scale = k % 4 == 1 ? 1e-3 : 1;
    for (int c = 0; c < 3; ++c) {
      const double u = uniform(rng);
      x.push_back(k % 4 == 2 ? std::round(4 * u) / 4 : k % 4 == 3 && k % 8 == 7 ? 0.5 : scale * u);
    }
  }
  return x;
}

/// The message of an error of this category.
std::string refused(ErrorCategory category, const std::vector<double>& sources,
                    const std::vector<double>& targets, const std::vector<double>& radii,
                    const NeighbourOptions& options = {}) {
  try {
    (void)find_neighbours(sources, targets, radii, options);
  } catch (const Error& e) {
    CHECK(e.category() == category);
    return e.what();
  }
  return "not refused";
}

}  // namespace

TEST_CASE("neighbour lists are those of a plain double loop") {
  for (const std::size_t n : {1UL, 63UL, 64UL, 65UL, 130UL, 1500UL}) {
    const std::vector<double> sources = points(n, 1), targets = points(300, 2);
    std::vector<double> radii;
    // From empty lists to lists of all sources; on the lattice many are at equal distances.
    for (std::size_t i = 0; i < 300; ++i) radii.push_back(static_cast<double>(i % 11) * 0.25);
    radii[5] = 1e-160;  // its square vanishes
    radii[6] = std::numeric_limits<double>::infinity();
    for (const unsigned threads : {1U, 3U}) {
      INFO(n << " sources, " << threads << " threads");
      const NeighbourLists found = find_neighbours(sources, targets, radii, {.threads = threads});
      CHECK(found.offsets.size() == 301);
      CHECK(in_rows(found) == expected(sources, targets, radii, nobody));
      CHECK(found[6].size() == n);
    }
    const std::vector<double> one{0.3};
    CHECK(in_rows(find_neighbours(sources, targets, one)) ==
          expected(sources, targets, one, nobody));
  }
}

TEST_CASE("a target is left out of its own neighbour list by its number or its id") {
  const std::vector<double> x = points(700, 3), radii{0.4};
  const auto same = [](std::size_t i, std::size_t j) { return i == j; };
  CHECK(in_rows(find_neighbours(x, x, radii, {.exclude_same_number = true})) ==
        expected(x, x, radii, same));
  std::vector<std::int64_t> source_ids, target_ids;
  for (std::int64_t k = 0; k < 700; ++k) {
    source_ids.push_back((k % 100) - (std::int64_t{1} << 50));
    target_ids.push_back((k % 10) - (std::int64_t{1} << 50));
  }
  CHECK(
      in_rows(find_neighbours(x, x, radii, {.source_ids = source_ids, .target_ids = target_ids})) ==
      expected(x, x, radii,
               [&](std::size_t i, std::size_t j) { return target_ids[i] == source_ids[j]; }));
}

TEST_CASE("neighbours are found at distances next to the radius") {
  const double below = std::nextafter(1.0, 0.0), above = std::nextafter(1.0, 2.0);
  const std::vector<double> sources{1, 0, 0, below, 0, 0, 0, -above, 0, 0, 0, -below}, target(3);
  const NeighbourLists found = find_neighbours(sources, target, std::vector<double>{1});
  CHECK(in_rows(found) == Lists{{1, 3}});
}

TEST_CASE("without sources or targets there are no neighbours") {
  const std::vector<double> none, x = points(5, 4), radius{1};
  CHECK(find_neighbours(none, x, radius).offsets == std::vector<std::int64_t>(6, 0));
  CHECK(find_neighbours(x, none, none).size() == 0);
  CHECK(find_neighbours(none, none, radius).indices.empty());
}

TEST_CASE("wrong arguments of a neighbour search are refused") {
  const std::vector<double> x = points(4, 5);
  std::vector<double> bad = x;
  bad[7] = NAN;
  const std::vector<std::int64_t> ids(4), few(3);
  const auto usage = ErrorCategory::Usage, input = ErrorCategory::Input;
  CHECK(refused(input, bad, x, {1}).find("pos[2], coordinate 1") != std::string::npos);
  bad[7] = INFINITY;
  CHECK(refused(input, x, bad, {1}).find("targets[2]") != std::string::npos);
  CHECK(refused(input, x, x, {1, 2, -0.5, 1}).find("radius[2] is -0.5;") != std::string::npos);
  CHECK(refused(input, x, x, {NAN}).find("radius is nan") != std::string::npos);
  CHECK(refused(input, x, x, {-1e-9}).find("radius is -1e-09;") != std::string::npos);
  CHECK(refused(usage, x, x, {1, 2}).find("radius has 2") != std::string::npos);
  CHECK(refused(usage, {1, 2}, x, {1}).find("has 2 numbers; expected three") != std::string::npos);
  CHECK(refused(usage, x, x, {1}, {.source_ids = ids}).find("target_ids") != std::string::npos);
  CHECK(refused(usage, x, x, {1}, {.source_ids = few, .target_ids = ids}).find("source_ids") !=
        std::string::npos);
  CHECK(refused(usage, x, {0, 0, 0}, {1}, {.exclude_same_number = true}).find("4 sources") !=
        std::string::npos);
}

TEST_CASE("neighbour lists of all pairs that exceed the memory are refused with their size") {
  const std::size_t n = 1'000'000;  // 10^12 pairs: they would take hours
  const std::vector<double> x = points(n, 11);
  const std::string message = refused(ErrorCategory::Input, x, x, {100.0});
  CHECK_THAT(message,
             Contains("the neighbour lists of 1000000 targets would have 1e+12 pairs, about "
                      "1000000 for each, and take 1.6e+04 GB of memory, of which ") &&
                 Contains("use smaller radii, or search for fewer targets at a time"));
}

#if !GDR_ADDRESS_SANITIZER && !GDR_THREAD_SANITIZER
TEST_CASE("neighbour lists are made within a limit of the memory, or refused") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  const std::size_t n = 12'000;
  const std::vector<double> x = points(n, 12);
  std::vector<double> radii(n, 0.0);
  std::vector<std::int64_t> one_id(n, 7);
  std::ifstream status("/proc/self/statm");
  std::size_t pages = 0;
  status >> pages;
  rlimit less = before;
  less.rlim_cur = pages * 4096 + (std::size_t{1} << 30);
  REQUIRE(::setrlimit(RLIMIT_AS, &less) == 0);
  const std::string all = refused(ErrorCategory::Input, x, x, {100.0}, {.threads = 2});
  // A few targets have long lists: counted, and made.
  for (std::size_t i = 0; i < n; i += 10) radii[i] = 100;
  const NeighbourLists some = find_neighbours(x, x, radii, {.threads = 2});
  // Pairs that are left out for their ids take no memory.
  const NeighbourLists none = find_neighbours(
      x, x, std::vector<double>{100}, {.source_ids = one_id, .target_ids = one_id, .threads = 2});
  REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
  CHECK_THAT(all, Contains("would have 1.44e+08 pairs, about 12000 for each, and take 2.3 GB"));
  CHECK(some.indices.size() == n / 10 * n);
  CHECK(none.indices.empty());
}
#endif
