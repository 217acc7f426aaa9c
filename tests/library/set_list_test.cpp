// SetList: sets from flattened lists and from separate calls, compared with plain sums.
#include "gdr/set_list.hpp"

#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gdr/error.hpp"
#include "library/kernels.hpp"
#include "library/refused.hpp"
#include "support/catch.hpp"

using namespace library_test;
using gdr::test::has;
using gdr::test::refused;

namespace {

using Offsets = std::vector<std::int64_t>;

/// Springs of stiffness 1 between exact numbers, so that sums have the same bits in any order.
struct Springs {
  std::vector<double> x = exact_values(90, 1), m = exact_values(90, 2);
  std::vector<double> force = std::vector<double>(90, -7);
  Offsets targets = {0, 20, 20, 57, 90};

  double sum(std::size_t i, const std::vector<std::size_t>& sources) const {
    double total = 0;
    for (const std::size_t j : sources) total += m[j] * (x[j] - x[i]);
    return total;
  }
  std::vector<gdr::NamedInput> sources() const { return {{"xj", x}, {"mj", m}}; }
  void add_targets(gdr::SetList& list) {
    list.add_sets(targets, {{"xi", x}}, {{"force", force.data()}});
  }
  void run(gdr::SetList& list, const char* name = "emulator:engine=native,threads=2") {
    gdr::Device device = gdr::Device::open(name);
    gdr::SetJob job(device, spring());
    job.set("k", 1);
    job.run(list.sets());
  }
  /// Compares the forces of a target range with the sums over the sources.
  void check(std::size_t set, const std::vector<std::size_t>& sources) const {
    for (auto i = static_cast<std::size_t>(targets[set]);
         i < static_cast<std::size_t>(targets[set + 1]); ++i)
      CHECK(force[i] == sum(i, sources));
  }
};

/// The message of the error of category Input that a run throws.
std::string bad_value(Springs& s, gdr::SetList& list) {
  try {
    s.run(list);
  } catch (const gdr::Error& e) {
    CHECK(e.category() == gdr::ErrorCategory::Input);
    return e.what();
  }
  FAIL("no error");
  return {};
}

std::vector<std::size_t> range(std::size_t first, std::size_t end) {
  std::vector<std::size_t> list(end - first);
  std::iota(list.begin(), list.end(), first);
  return list;
}

}  // namespace

TEST_CASE("flattened lists of indices give the sums of their entries") {
  for (const char* name : {"emulator:engine=native,threads=2", "emulator:engine=vector"}) {
    Springs s;
    const std::vector<std::int32_t> index = {3, 3, 89, 0, 41, 7, 8};
    const Offsets offsets = {0, 3, 4, 4, 7};
    gdr::SetList list;
    s.add_targets(list);
    list.add_source_lists(offsets, {index.size(), s.sources(), index.data(), s.x.size()});
    CHECK(list.size() == 4);
    s.run(list, name);
    s.check(0, {3, 3, 89});
    s.check(2, {});
    s.check(3, {41, 7, 8});
  }
}

TEST_CASE("items with equal labels are one system, in any order") {
  for (const char* name : {"emulator:engine=native,threads=2", "emulator:engine=vector"}) {
    Springs s;
    std::vector<std::int64_t> of_targets(90), of_sources(90);
    for (std::size_t k = 0; k < 90; ++k) {
      of_targets[k] =
          k < 60 ? static_cast<std::int64_t>(k / 20) * 5 - 5 : static_cast<std::int64_t>(k % 3);
      of_sources[k] = static_cast<std::int64_t>(k * k % 7) - 1;
    }
    gdr::SetList list;
    list.add_systems(of_targets, {{"xi", s.x}}, {{"force", s.force.data()}}, of_sources,
                     {{"xj", s.x}, {"mj", s.m}});
    s.run(list, name);
    for (std::size_t i = 0; i < 90; ++i) {
      std::vector<std::size_t> same;
      for (std::size_t j = 0; j < 90; ++j)
        if (of_sources[j] == of_targets[i]) same.push_back(j);
      CHECK(s.force[i] == s.sum(i, same));
    }
  }
  gdr::SetList none;
  none.add_systems({}, {{"xi", {}}}, {{"force", {}}}, {}, {{"xj", {}}, {"mj", {}}});
  CHECK(none.size() == 0);
}

TEST_CASE("flattened lists without an index are ranges of the arrays") {
  Springs s;
  const Offsets offsets = {0, 30, 30, 31, 80};
  gdr::SetList list;
  s.add_targets(list);
  list.add_source_lists(offsets, {80, s.sources()});
  list.add_source_lists(offsets, {.n = 80, .arrays = s.sources(), .first = 10});
  s.run(list);
  const auto twice = [](std::size_t first, std::size_t end) {
    std::vector<std::size_t> all = range(first, end), later = range(first + 10, end + 10);
    all.insert(all.end(), later.begin(), later.end());
    return all;
  };
  s.check(0, twice(0, 30));
  s.check(2, twice(30, 31));
  s.check(3, twice(31, 80));
}

TEST_CASE("sources are added to the last sets, in the order of the calls") {
  Springs s;
  std::vector<double> alone(5, -7);
  const std::vector<std::int32_t> index = {12, 70};
  gdr::SetList list;
  s.add_targets(list);
  list.add_sources({2, s.sources()});
  list.add_set(5, {{"xi", s.x}}, {{"force", alone.data()}});
  list.add_sources({2, s.sources(), index.data(), s.x.size()});
  list.add_source_lists(Offsets{0, 3, 4}, {4, s.sources()});
  const std::span<const gdr::InteractionSet> sets = list.sets();
  REQUIRE(sets.size() == 5);
  CHECK(sets[2].sources.empty());
  REQUIRE(sets[3].sources.size() == 2);
  CHECK(sets[3].sources[0].n == 2);
  CHECK(sets[3].sources[1].n == 3);
  REQUIRE(sets[4].sources.size() == 2);
  CHECK(sets[4].sources[0].index == index.data());
  s.run(list);
  s.check(2, {});
  s.check(3, {0, 1, 0, 1, 2});
  for (std::size_t i = 0; i < alone.size(); ++i) CHECK(alone[i] == s.sum(i, {12, 70, 3}));
}

TEST_CASE("a list of sets copies names and descriptions, and can be cleared and moved") {
  Springs s;
  gdr::SetList first;
  {
    std::string xi = "xi", xj = "xj", mj = "mj", force = "force";
    const std::vector<gdr::NamedInput> targets = {{xi, s.x}}, sources = {{xj, s.x}, {mj, s.m}};
    const std::vector<gdr::NamedResult> results = {{force, s.force}};
    first.add_sets(s.targets, targets, results);
    first.add_sources({90, sources});
    xi = xj = mj = force = "??";
  }
  gdr::SetList moved = std::move(first);
  s.run(moved);
  s.check(3, range(0, 90));
  moved.clear();
  CHECK(moved.size() == 0);
  CHECK(moved.sets().empty());
  s.add_targets(moved);
  s.run(moved);
  s.check(0, {});
}

TEST_CASE("vectors of sets begin at their items") {
  const std::string text =
      "VARI vec3 x; VARJ vec3 xs; VARJ m; VARF vec3 f; VARF n;\nd = xs - x; f += m*d; n += m;\n";
  const gdr::Kernel kernel = gdr::Kernel::compile(text, "pull.gdk");
  const std::vector<double> x = exact_values(3 * 30, 5);
  std::vector<double> f(3 * 30, -7), n(30, -7);
  const std::vector<double> m(30, 2);
  const Offsets targets = {0, 11, 30}, sources = {4, 9, 30};
  gdr::SetList list;
  list.add_sets(targets, {{"x", x.data()}}, {{"f", f.data()}, {"n", n.data()}});
  const std::vector<gdr::NamedInput> arrays = {{"xs", x.data()}, {"m", m}};
  list.add_source_lists(sources, {30, arrays});
  gdr::Device device = gdr::Device::open("emulator:engine=native,threads=1");
  gdr::SetJob(device, kernel).run(list.sets());
  for (std::size_t i = 0; i < 30; ++i) {
    const std::size_t set = i < 11 ? 0 : 1;
    double sum[3] = {0, 0, 0};
    for (std::int64_t j = sources[set]; j < sources[set + 1]; ++j)
      for (std::size_t c = 0; c < 3; ++c)
        sum[c] += 2 * (x[3 * static_cast<std::size_t>(j) + c] - x[3 * i + c]);
    for (std::size_t c = 0; c < 3; ++c) CHECK(f[3 * i + c] == sum[c]);
    CHECK(n[i] == 2.0 * static_cast<double>(sources[set + 1] - sources[set]));
  }
}

TEST_CASE("bad values in ranges are named by their position in the arrays") {
  Springs s;
  gdr::SetList list;
  s.add_targets(list);
  list.add_source_lists(Offsets{0, 1, 1, 50, 90}, {90, s.sources()});
  s.m[60] = std::numeric_limits<double>::infinity();
  has(bad_value(s, list), "set 3, segment 0: \"mj\"[60] is infinite");
  s.m[60] = 1;
  s.x[40] = std::numeric_limits<double>::quiet_NaN();
  has(bad_value(s, list), "set 2: \"xi\"[40] is not a number");
}

TEST_CASE("invalid offsets and missing sets are refused, and add nothing") {
  Springs s;
  gdr::SetList list;
  const auto message = [&](const Offsets& offsets) {
    return refused([&] { list.add_sets(offsets, {{"xi", s.x}}, {}); });
  };
  has(message({}), "no offsets");
  has(message({-1, 3}), "offsets[0] is -1, which is negative");
  has(message({0, 3, 2}), "offsets[2] is 2, less than offsets[1] is 3");
  has(refused([&] { list.add_sources({3, s.sources()}); }), "there is no set for these sources");
  CHECK(list.size() == 0);
  s.add_targets(list);
  const std::vector<std::int32_t> index = {1, 2};
  const auto lists = [&](const Offsets& offsets) {
    return refused([&] { list.add_source_lists(offsets, {2, s.sources(), index.data(), 90}); });
  };
  has(lists({0, 1, 3}), "offsets[2] is 3, but the lists have 2 entries");
  has(lists({0, 0, 0, 0, 0, 0}), "5 lists of sources need as many sets, but there are 4");
  has(lists({2, 1}), "less than");
  for (const gdr::InteractionSet& set : list.sets()) CHECK(set.sources.empty());
}
