// Neighbour lists of libg6 in sequences of calls, on all engines: the first lists are found on the
// host, those of later calls by the device, which may round distances to floats. They must be equal
// to those of plain loops in doubles, also for particles at the very edge of a sphere.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "grape/support.hpp"
#include "libgdr/compat/grape/g6lib.h"
#include "support/catch.hpp"
#include "support/iterations.hpp"

using namespace grape_test;

namespace {

/// Entries of a device's list.
constexpr std::size_t capacity = 200;

/// Particles at rest.
struct Still {
  std::vector<int> id;
  std::vector<Row> x;
  std::size_t size() const { return id.size(); }
  void add(int number, const Row& at) {
    id.push_back(number);
    x.push_back(at);
  }
  double mass(std::size_t k) const { return 1.0 / static_cast<double>(1 + k % 7); }
};

void set_all(int cluster, const Still& p) {
  for (std::size_t k = 0; k < p.size(); ++k)
    REQUIRE(g6_set_j_particle_mxonly(cluster, static_cast<int>(k), p.id[k], p.mass(k),
                                     row(p.x[k])) == 0);
}

struct ListTargets {
  std::vector<int> id;
  std::vector<Row> x;
  std::vector<double> h2;
  std::size_t size() const { return id.size(); }
  void add(int number, const Row& at, double radius2) {
    id.push_back(number);
    x.push_back(at);
    h2.push_back(radius2);
  }
};

double distance2(const Row& a, const Row& b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

/// The definition.
std::vector<int> expected_list(const Still& p, std::size_t nj, const ListTargets& t, std::size_t i,
                               double e2 = 0) {
  std::vector<int> list;
  for (std::size_t j = 0; j < nj; ++j)
    if (p.id[j] != t.id[i] && distance2(p.x[j], t.x[i]) + e2 < t.h2[i]) list.push_back(p.id[j]);
  std::sort(list.begin(), list.end());
  return list;
}

enum class ListForm { Plain, Nearest, OwnSoftening };

/// Starts a calculation.
void first_half(int cluster, std::size_t nj, ListTargets& t, double eps2,
                ListForm form = ListForm::Plain) {
  std::vector<Row> v(t.size());
  if (form == ListForm::OwnSoftening) {
    std::vector<double> each(t.size(), eps2);
    g6calc_firsthalf0(cluster, static_cast<int>(nj), static_cast<int>(t.size()), t.id.data(),
                      rows(t.x), rows(v), nullptr, nullptr, nullptr, each.data(), t.h2.data());
    return;
  }
  g6calc_firsthalf(cluster, static_cast<int>(nj), static_cast<int>(t.size()), t.id.data(),
                   rows(t.x), rows(v), nullptr, nullptr, nullptr, eps2, t.h2.data());
}

/// Completes it; checks the potentials and, if they are wanted, the nearest particles.
void last_half(int cluster, const Still& p, std::size_t nj, ListTargets& t, double eps2,
               ListForm form, double tolerance) {
  const std::size_t n = t.size();
  std::vector<Row> v(n), acc(n), jerk(n);
  std::vector<double> pot(n), right(n);
  std::vector<int> nearest(n);
  REQUIRE(g6calc_lasthalf2(cluster, static_cast<int>(nj), static_cast<int>(n), t.id.data(),
                           rows(t.x), rows(v), eps2, t.h2.data(), rows(acc), rows(jerk), pot.data(),
                           form == ListForm::Nearest ? nearest.data() : nullptr) == 0);
  for (std::size_t i = 0; i < n; ++i) {
    double least = INFINITY, found = INFINITY;
    for (std::size_t j = 0; j < nj; ++j) {
      if (p.id[j] == t.id[i]) continue;
      const double d2 = distance2(p.x[j], t.x[i]);
      least = std::min(least, d2);
      if (p.id[j] == nearest[i]) found = std::min(found, d2);
      if (d2 + eps2 > 0) right[i] -= p.mass(j) / std::sqrt(d2 + eps2);
    }
    if (form == ListForm::Nearest && least < INFINITY) CHECK(found <= least * (1 + 1e-7));
  }
  CHECK(difference(pot, right) < tolerance);
}

std::vector<int> list_of_pipe(int cluster, std::size_t pipe, std::size_t most = 5000,
                              int status = 0) {
  std::vector<int> list(most, 12345);
  int n = -7;
  CHECK(g6_get_neighbour_list(cluster, static_cast<int>(pipe), static_cast<int>(most), &n,
                              list.data()) == status);
  REQUIRE(n >= 0);
  list.resize(static_cast<std::size_t>(n));
  return list;
}

void check_lists(int cluster, const Still& p, std::size_t nj, const ListTargets& t, double e2 = 0) {
  REQUIRE(g6_read_neighbour_list(cluster) == 0);
  for (std::size_t i = 0; i < t.size(); ++i) {
    INFO("target " << i << ", h2 " << t.h2[i]);
    if (std::isnan(t.h2[i]))
      messages_of([&] { CHECK(list_of_pipe(cluster, i, 5, -1).empty()); });
    else
      CHECK(list_of_pipe(cluster, i) == expected_list(p, nj, t, i, e2));
  }
}

/// Calls whose lists are read, so that the device makes those of the next call.
void ask_for_lists(int cluster, const Still& p) {
  ListTargets t;
  t.add(p.id[0], p.x[0], 1e-3);
  for (int k = 0; k < 2; ++k) {
    first_half(cluster, 1, t, 1e-3);
    CHECK(list_of_pipe(cluster, 0).empty());
  }
}

/// Calls test(id, tolerance of potentials) with every engine, those among floats included.
void for_all_engines(const std::function<void(int id, double tolerance)>& test) {
  for_all_devices([&](int id, double) { test(id, 1e-11); });
  for (const char* engine : {"native-mixed", "native-float", "native-fast"})
    for_all_isas(engine, [&](int id) { test(id, 1e-3); });
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  int below(int n) { return static_cast<int>(bits_() % static_cast<std::uint64_t>(n)); }
  Row point(double size) {
    return {size * (uniform() - 0.5), size * (uniform() - 0.5), size * (uniform() - 0.5)};
  }

 private:
  std::mt19937_64 bits_;
};

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// Squares of radii without meaning, and those at the ends of the range.
constexpr double extremes[] = {0.0,  -0.0,  -1.0,  1e-320, 1e-300,   1e-292,    1e-40, 1e-20,
                               1e40, 1e299, 1e301, 1e308,  INFINITY, -INFINITY, nan};

}  // namespace

TEST_CASE("g6: lists are right in any sequence of calls, on every engine") {
  for_all_engines([](int id, double tolerance) {
    Random random(gdr::test::first_seed());
    Still p;
    for (int k = 0; k < 900; ++k) p.add(k % 11 == 0 ? 5 : 3 * k - 1000, random.point(1));
    p.x[50] = p.x[20] = p.x[3];  // at the same place
    set_all(id, p);
    const int calls = static_cast<int>(gdr::test::test_iterations(24));
    for (int call = 0; call < calls; ++call) {
      INFO("call " << call);
      g6_set_ti(id, 0.25 * (call / 3));
      const auto nj = static_cast<std::size_t>(call % 4 == 0 ? 900 : 1 + random.below(900));
      const double size = std::pow(10, -3 * random.uniform()), eps2 = call % 5 == 0 ? 0 : 1e-3;
      ListTargets t;
      const int n = 1 + random.below(70);
      for (int i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(random.below(900));
        const double radius2 = random.below(6) == 0
                                   ? extremes[random.below(static_cast<int>(std::size(extremes)))]
                                   : size * random.uniform();
        t.add(random.below(5) == 0 ? -7 : p.id[k], random.below(3) == 0 ? random.point(1) : p.x[k],
              radius2);
      }
      const auto form = static_cast<ListForm>(call / 6 % 3);
      first_half(id, nj, t, eps2, form);
      const bool lists_first = random.below(4) == 0, asks = call % 12 != 7 && call % 12 != 8;
      if (lists_first && asks) check_lists(id, p, nj, t);
      // Floats without softening are not accurate for pairs that are nearly at the same place.
      const bool accurate = eps2 > 0 || tolerance < 1e-9;
      last_half(id, p, nj, t, eps2, form, accurate ? tolerance : INFINITY);
      if (asks) check_lists(id, p, nj, t);
    }
    // No longer wanted, and again.
    ListTargets t;
    for (std::size_t i = 0; i < 20; ++i) t.add(p.id[i], p.x[i], 0.05);
    for (int call = 0; call < 20; ++call) {
      first_half(id, 900, t, 1e-3);
      last_half(id, p, 900, t, 1e-3, ListForm::Plain, tolerance);
    }
    check_lists(id, p, 900, t);
    first_half(id, 900, t, 1e-3);
    check_lists(id, p, 900, t);
    g6_close(id);
  });
}

TEST_CASE("g6: particles at the edge of a sphere are listed as in exact arithmetic") {
  for_all_engines([](int id, double) {
    Random random(23);
    for (const double centre : {0.0, 1.0, 1000.0}) {
      // All coordinates are multiples of a unit that floats cannot represent far from the origin;
      // squares of distances are exact in doubles.
      constexpr double unit = 0x1p-20;
      const auto at = [&](const Row& from, int x, int y, int z) {
        return Row{from[0] + unit * x, from[1] + unit * y, from[2] + unit * z};
      };
      ListTargets t;
      Still p;
      for (int i = 0; i < 60; ++i) {
        const auto coordinate = [&] { return centre + unit * (random.below(1 << 21) - (1 << 20)); };
        const Row x{coordinate(), coordinate(), coordinate()};
        const int a = 1 + random.below(900), b = random.below(900), c = random.below(900);
        const double edge = unit * unit * (double(a) * a + double(b) * b + double(c) * c);
        const double radius2 = i % 3 == 0   ? edge
                               : i % 3 == 1 ? std::nextafter(edge, 0.0)
                                            : std::nextafter(edge, 1.0);
        t.add(-1 - i, x, radius2);
        for (int k = 0; k < 48; ++k) {
          // On the sphere in every direction, and one unit inside or outside.
          int s[] = {a, b, c};
          for (int swap = 0; swap < k % 6; ++swap) std::swap(s[swap % 2], s[1 + swap % 2]);
          for (int d = 0; d < 3; ++d)
            if ((k / 6 >> d & 1) != 0) s[d] = -s[d];
          if (k % 5 == 1) ++s[k % 3];
          if (k % 5 == 2) --s[k % 3];
          p.add(100 * i + k, at(x, s[0], s[1], s[2]));
        }
      }
      set_all(id, p);
      g6_set_ti(id, centre);
      ask_for_lists(id, p);
      std::size_t inside = 0;
      for (std::size_t i = 0; i < t.size(); ++i) inside += expected_list(p, p.size(), t, i).size();
      CHECK(inside > 400);
      CHECK(inside < 1500);
      for (int call = 0; call < 2; ++call) {
        first_half(id, p.size(), t, 1e-3);
        check_lists(id, p, p.size(), t);
      }
    }
    g6_close(id);
  });
}

TEST_CASE("g6: lists that are too long for the device are complete") {
  for_all_engines([](int id, double tolerance) {
    Random random(31);
    Still p;
    for (int k = 0; k < 600; ++k) p.add(1000 - k, random.point(1));
    // As many as a list holds, and one more, around a place of their own.
    for (std::size_t k = 0; k < capacity; ++k) p.add(2000 + static_cast<int>(k), {5, 5, 5});
    for (std::size_t k = 0; k <= capacity; ++k) p.add(3000 + static_cast<int>(k), {-5, 5, 5});
    set_all(id, p);
    g6_set_ti(id, 0);
    ask_for_lists(id, p);
    const auto targets = [&](int n, int long_lists) {
      ListTargets t;
      for (int i = 0; i < n; ++i)
        t.add(p.id[static_cast<std::size_t>(i)], p.x[static_cast<std::size_t>(i)],
              i < long_lists ? 1 + 0.1 * i : 0.01);
      t.add(1, {5, 5, 5}, 0.5);
      t.add(1, {-5, 5, 5}, 0.5);
      t.add(3000, {-5, 5, 5}, 0.5);
      return t;
    };
    // Some, most, then few again: most lists are then found on the host.
    for (const int long_lists : {3, 3, 40, 40, 3, 0, 0}) {
      ListTargets t = targets(50, long_lists);
      first_half(id, p.size(), t, 1e-3);
      last_half(id, p, p.size(), t, 1e-3, ListForm::Plain, tolerance);
      check_lists(id, p, p.size(), t);
      CHECK(list_of_pipe(id, 50).size() == capacity);
      CHECK(list_of_pipe(id, 51).size() == capacity + 1);
      CHECK(list_of_pipe(id, 52).size() == capacity);
      std::vector<int> first = expected_list(p, p.size(), t, 51);
      first.resize(70);
      CHECK(list_of_pipe(id, 51, 70, 1) == first);
    }
    g6_close(id);
  });
}

TEST_CASE("g6: softened distances are those of the option when lists are read") {
  for_all_engines([](int id, double) {
    Random random(37);
    Still p;
    for (int k = 0; k < 300; ++k) p.add(k, random.point(1));
    set_all(id, p);
    g6_set_ti(id, 0);
    ask_for_lists(id, p);
    ListTargets t;
    for (std::size_t i = 0; i < 30; ++i) t.add(p.id[i], p.x[i], 0.004 * static_cast<double>(i));
    first_half(id, 300, t, 0.03);
    {
      const Variable softened("GDR_G6_SOFTENED_LISTS", "1");
      check_lists(id, p, 300, t, 0.03);
    }
    check_lists(id, p, 300, t, 0.03);  // as they were read
    first_half(id, 300, t, 0.03);
    check_lists(id, p, 300, t);
    g6_close(id);
  });
}

TEST_CASE("g6: lists of the reference engine are right") {
  const Variable device("GDR_DEVICE", "emulator:engine=reference,chips=1,blocks=2,pes=4");
  const int id = 66665;
  Random random(39);
  Still p;
  for (int k = 0; k < 60; ++k) p.add(k, random.point(1));
  set_all(id, p);
  g6_set_ti(id, 0);
  ask_for_lists(id, p);
  for (const ListForm form : {ListForm::Plain, ListForm::Nearest}) {
    ListTargets t;
    for (std::size_t i = 0; i < 30; ++i) t.add(p.id[i], p.x[i], 0.02 * static_cast<double>(i));
    first_half(id, 60, t, 1e-3, form);
    last_half(id, p, 60, t, 1e-3, form, 1e-11);
    check_lists(id, p, 60, t);
  }
  g6_close(id);
}

TEST_CASE("g6: a device that cannot make lists leaves them to the host") {
  Random random(41);
  Still p;
  for (int k = 0; k < 150'000; ++k) p.add(k, random.point(1));
  int id = 66670;
  // Some milliseconds of work are done in the background.
  for (const std::size_t nj : {200, 150'000}) {
    for (const char* option : {"partition=sources", "local=256"}) {
      INFO(option << ", " << nj << " j-particles");
      const Variable device("GDR_DEVICE", "emulator:engine=native," + std::string(option));
      set_all(++id, p);
      g6_set_ti(id, 0);
      ListTargets t;
      for (std::size_t i = 0; i < 30; ++i) t.add(p.id[i], p.x[i], nj > 200 ? 1e-3 : 0.1);
      const std::string messages = messages_of([&] {
        for (int call = 0; call < 3; ++call) {
          first_half(id, nj, t, 1e-3);
          last_half(id, p, nj, t, 1e-3, ListForm::Plain, 1e-11);
          check_lists(id, p, nj, t);
        }
      });
      CHECK(messages.empty());
      g6_close(id);
    }
  }
}

TEST_CASE("g6: small calls among larger ones get their own lists") {
  for_all_engines([](int id, double tolerance) {
    Random random(53);
    Still p;
    for (int k = 0; k < 300; ++k) p.add(k, random.point(1));
    set_all(id, p);
    ask_for_lists(id, p);
    double time = 0;
    for (int call = 0; call < 60; ++call) {
      INFO("call " << call);
      // Particles change, at the same time or before another one.
      const auto changed = static_cast<std::size_t>(random.below(300));
      p.x[changed] = random.point(1);
      g6_set_j_particle_mxonly(id, static_cast<int>(changed), p.id[changed], p.mass(changed),
                               row(p.x[changed]));
      if (random.below(2) == 0) g6_set_ti(id, time += 0.5);
      ListTargets t;
      const int n = 1 + random.below(random.below(2) == 0 ? 14 : 60);
      for (int i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(random.below(300));
        t.add(p.id[k], p.x[k], 0.02);
      }
      first_half(id, 300, t, 1e-3);
      if (call % 3 > 0) check_lists(id, p, 300, t);
      last_half(id, p, 300, t, 1e-3, call < 40 ? ListForm::Plain : ListForm::Nearest, tolerance);
      check_lists(id, p, 300, t);
    }
    g6_close(id);
  });
}

TEST_CASE("g6: a first half in the background is forgotten by calls of another kernel") {
  const Variable device("GDR_DEVICE", "emulator:engine=native");
  const int id = 66669;
  Random random(59);
  Still p;
  for (int k = 0; k < 150'000; ++k) p.add(k, random.point(1));
  set_all(id, p);
  g6_set_ti(id, 0);
  ask_for_lists(id, p);
  ListTargets many, few;
  for (std::size_t i = 0; i < 40; ++i) many.add(p.id[i], p.x[i], 1e-3);
  for (std::size_t i = 90; i < 93; ++i) few.add(p.id[i], p.x[i], 1e-2);
  for (const ListForm form : {ListForm::Plain, ListForm::Nearest, ListForm::OwnSoftening}) {
    first_half(id, p.size(), many, 1e-3);
    g6_set_ti(id, 1 + static_cast<int>(form));
    first_half(id, 2000, few, 1e-3, form);
    last_half(id, p, 2000, few, 1e-3, form, 1e-11);
    check_lists(id, p, 2000, few);
    first_half(id, p.size(), many, 1e-3, form);
    last_half(id, p, p.size(), many, 1e-3, form, 1e-11);
    check_lists(id, p, p.size(), many);
  }
  first_half(id, p.size(), many, 1e-3);
  g6_close(id);
}

TEST_CASE("g6: lists of very many targets are right") {
  const Variable device("GDR_DEVICE", "emulator:engine=native");
  const int id = 66668;
  Random random(47);
  Still p;
  for (int k = 0; k < 20; ++k) p.add(k, random.point(1));
  set_all(id, p);
  g6_set_ti(id, 0);
  ask_for_lists(id, p);
  for (const int n : {1 << 16, (1 << 16) + 1}) {
    ListTargets t;
    for (int i = 0; i < n; ++i) t.add(-1, random.point(1), 0.1);
    first_half(id, p.size(), t, 1e-3);
    last_half(id, p, p.size(), t, 1e-3, ListForm::Plain, 1e-11);
    check_lists(id, p, p.size(), t);
  }
  g6_close(id);
}

TEST_CASE("g6: after a calculation that failed, sums and lists of the next are right") {
  for_all_engines([](int id, double tolerance) {
    Random random(43);
    Still p;
    for (int k = 0; k < 200; ++k) p.add(k, random.point(1));
    set_all(id, p);
    g6_set_ti(id, 0);
    ask_for_lists(id, p);
    ListTargets t;
    for (std::size_t i = 0; i < 30; ++i) t.add(p.id[i], p.x[i], 0.1);
    ListTargets bad = t;
    const int wrong = id % 30;
    // Another message: one that repeats the last is not written.
    messages_of([&] { g6_set_j_particle_mxonly(id, -1, 0, 1, row(p.x[0])); });
    bad.x[static_cast<std::size_t>(wrong)][1] = NAN;
    first_half(id, 200, bad, 1e-3);
    const std::string message = messages_of([&] { CHECK(g6_read_neighbour_list(id) == -1); });
    CHECK_THAT(message, Catch::Contains("\"yi\"[" + std::to_string(wrong) + "]"));
    first_half(id, 200, t, 1e-3);
    last_half(id, p, 200, t, 1e-3, ListForm::Nearest, tolerance);
    check_lists(id, p, 200, t);
    g6_close(id);
  });
}
