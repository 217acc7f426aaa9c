// Conformance of libg6: every statement of its header, on native, exact and board devices, against
// plain loops in double precision.
#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>
#include <thread>

#include "grape/g6_calls.hpp"

using namespace grape_test;
using namespace grape_test::g6;

TEST_CASE("g6: particles are predicted with all derivatives, each from its own time") {
  for_all_devices([](int id, double tolerance) {
    const Particles p = random_particles(200, 1);
    set_all(id, p);
    for (const double time : {0.0, 0.3, 0.3, -0.2}) {
      CHECK(g6_set_ti(id, time) == 0);
      Targets t = targets_of(p, time, 20, 60, 1e-3);
      check(calculate(id, 200, t), expected(p, time, 200, t), tolerance);
    }
    CHECK(g6_close(id) == 0);
  });
}

TEST_CASE("g6: calls may have any number of i- and j-particles") {
  for_all_devices([](int id, double tolerance) {
    const Particles p = random_particles(1500, 2);
    set_all(id, p);
    g6_set_ti(id, 0.1);
    for (const std::size_t nj : {1500U, 1U, 2U, 777U})
      for (const std::size_t ni : {1U, 48U, 300U}) {
        Targets t = targets_of(p, 0.1, 0, ni, 1e-2);
        check(calculate(id, nj, t), expected(p, 0.1, nj, t), tolerance);
      }
    // None at all: zeros, and nothing is the nearest.
    Targets t = targets_of(p, 0.1, 0, 3, 1e-2);
    const Sums none = calculate(id, 0, t);
    CHECK(none.nearest == std::vector<int>{-1, -1, -1});
    CHECK(none.pot == std::vector<double>(3));
    Targets nobody = targets_of(p, 0.1, 0, 0, 1e-2);
    nobody.eps2.push_back(0);
    calculate(id, 10, nobody);
    g6_close(id);
  });
}

TEST_CASE("g6: pairs of equal ids are left out, in the full range of int") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(60, 3);
    const int ids[] = {0, -1, INT_MAX, INT_MIN, 1 << 24, (1 << 24) + 1, -(1 << 30), INT_MAX - 1};
    for (std::size_t k = 0; k < std::size(ids); ++k) p.id[k] = ids[k];
    set_all(id, p);
    g6_set_ti(id, 0);
    Targets t = targets_of(p, 0, 0, 20, 1e-4);
    check(calculate(id, 60, t), expected(p, 0, 60, t), tolerance);
    // An index that no particle has leaves nothing out, also at the same place (but for a rounding
    // of the prediction, which a small softening would magnify).
    std::fill(t.eps2.begin(), t.eps2.end(), 1e-2);
    std::fill(t.id.begin(), t.id.end(), -77);
    const Sums s = calculate(id, 60, t);
    check(s, expected(p, 0, 60, t), tolerance);
    CHECK(s.nearest[0] == p.id[0]);
    g6_close(id);
  });
}

TEST_CASE("g6: pairs at the same place without softening contribute nothing, but are the nearest") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(30, 4);
    for (auto* list : {&p.v, &p.a, &p.j, &p.s}) std::fill(list->begin(), list->end(), Row{});
    p.x[7] = p.x[3];
    set_all(id, p);
    g6_set_ti(id, 0);
    Targets t = targets_of(p, 0, 0, 30, 0);
    const Sums s = calculate(id, 30, t);
    check(s, expected(p, 0, 30, t), tolerance);
    CHECK(s.nearest[3] == 7);
    CHECK(s.nearest[7] == 3);
    for (const double pot : s.pot) CHECK(std::isfinite(pot));
    g6_close(id);
  });
}

TEST_CASE("g6: a single particle feels nothing") {
  for_all_devices([](int id, double) {
    const Particles p = random_particles(1, 5);
    set_all(id, p);
    g6_set_ti(id, p.time[0]);
    Targets t = targets_of(p, p.time[0], 0, 1, 0);
    const Sums s = calculate(id, 1, t);
    CHECK(s.acc[0] == Row{});
    CHECK(s.jerk[0] == Row{});
    CHECK(s.pot[0] == 0);
    CHECK(s.nearest[0] == -1);
    CHECK(list_of(id, 0).empty());
    g6_close(id);
  });
}

TEST_CASE("g6: changes of single particles take effect at the same and at another time") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(300, 6);
    set_all(id, p);
    const Particles other = random_particles(300, 7);
    double time = 0;
    std::size_t k = 5;
    for (int step = 0; step < 12; ++step) {
      for (const std::size_t n : {k, (k * 7) % 300, (k * 7 + 1) % 300, std::size_t{299}}) {
        p.x[n] = other.x[n];
        p.v[n] = other.v[n];
        p.mass[n] *= 1.5;
        p.time[n] = time;
        if (step % 3 == 0) p.id[n] += 1000;
        set(id, p, n, n);
      }
      if (step % 2 == 0) time += 0.01;
      g6_set_ti(id, time);
      Targets t = targets_of(p, time, 10, 48, 1e-3);
      check(calculate(id, 300, t), expected(p, time, 300, t), tolerance);
      k = (k * 31 + 7) % 300;
    }
    g6_close(id);
  });
}

TEST_CASE("g6: addresses may be set in any order, and other calls change nothing") {
  for_all_devices([](int id, double tolerance) {
    const Particles p = random_particles(100, 8);
    CHECK(g6_open(id) == 0);
    CHECK(g6_initialize_jp_buffer(id, 1000) == 0);
    CHECK(g6_setup_njdata(id, 100) == 0);
    for (std::size_t k = 100; k-- > 0;) set(id, p, k, k);
    CHECK(g6_flush_jp_buffer(id) == 0);
    CHECK(g6_reset(id) == 0);
    CHECK(g6_reset_fofpga(id) == 0);
    g6_reinitialize(id);
    CHECK(g6_set_tunit(51) == 0);
    CHECK(g6_set_xunit_(nullptr) == 0);
    CHECK(g6_set_tunit_(nullptr) == 0);
    g6_set_neighbour_list_sort_mode(0);
    CHECK(g6_get_neighbour_list_sort_mode() == 1);
    g6_set_ti(id, 0.2);
    Targets t = targets_of(p, 0.2, 0, 100, 1e-3);
    check(calculate(id, 100, t), expected(p, 0.2, 100, t), tolerance);
    g6_close(id);
  });
}

TEST_CASE("g6: particles at rest need only mass and position") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(50, 9);
    for (auto* list : {&p.v, &p.a, &p.j, &p.s}) std::fill(list->begin(), list->end(), Row{});
    for (std::size_t k = 0; k < p.size(); ++k)
      CHECK(g6_set_j_particle_mxonly(id, static_cast<int>(k), p.id[k], p.mass[k], p.x[k].data()) ==
            0);
    g6_set_ti(id, 3);
    Targets t = targets_of(p, 3, 0, 50, 1e-3);
    check(calculate(id, 50, t), expected(p, 3, 50, t), tolerance);
    g6_close(id);
  });
}

TEST_CASE("g6: a first half without its second half is forgotten") {
  for_all_devices([](int id, double tolerance) {
    const Particles p = random_particles(100, 10);
    set_all(id, p);
    g6_set_ti(id, 0);
    Targets other = targets_of(p, 0, 50, 40, 1e-3);
    g6calc_firsthalf(id, 100, other.count(), other.id.data(), rows(other.x), rows(other.v), nullptr,
                     nullptr, nullptr, 1e-3, nullptr);
    Targets t = targets_of(p, 0, 0, 20, 1e-3);
    check(calculate(id, 100, t), expected(p, 0, 100, t), tolerance);
    g6_close(id);
  });
}

TEST_CASE("g6: a first half of many pairs computes while the client goes on") {
  for_all_devices([](int id, double tolerance) {
    const Particles p = random_particles(2100, 11);
    set_all(id, p);
    g6_set_ti(id, 0);
    Targets all = targets_of(p, 0, 0, 2100, 1e-3), few = targets_of(p, 0, 30, 10, 1e-3);
    const auto first_half = [&] {
      Targets t = all;  // gone before the second half
      g6calc_firsthalf(id, 2100, t.count(), t.id.data(), rows(t.x), rows(t.v), nullptr, nullptr,
                       nullptr, 1e-3, nullptr);
    };
    first_half();
    Sums s(all.size());
    REQUIRE(g6calc_lasthalf(id, 2100, all.count(), all.id.data(), rows(all.x), rows(all.v), 1e-3,
                            nullptr, rows(s.acc), rows(s.jerk), s.pot.data()) == 0);
    // Ten of them are compared: all pairs in plain C++ take long under a sanitizer.
    const Sums right = expected(p, 0, 2100, few);
    const auto rows_of = [](const std::vector<Row>& v) {
      return std::vector<Row>(v.begin() + 30, v.begin() + 40);
    };
    CHECK(difference(rows_of(s.acc), right.acc) < tolerance);
    CHECK(difference(rows_of(s.jerk), right.jerk) < 10 * tolerance);
    // One that nobody waits for, then another calculation; one that is running at the end.
    first_half();
    check(calculate(id, 2100, few), right, tolerance);
    first_half();
    g6_close(id);
  });
}

TEST_CASE("g6: i-particles may change between the halves, and results may share an array") {
  for_all_devices([](int id, double tolerance) {
    const Particles p = random_particles(100, 11);
    set_all(id, p);
    g6_set_ti(id, 0);
    Targets t = targets_of(p, 0, 0, 20, 1e-3);
    const Sums right = expected(p, 0, 100, t);
    Sums s(20);
    g6calc_firsthalf(id, 100, 20, t.id.data(), rows(t.x), rows(t.v), nullptr, nullptr, nullptr,
                     1e-3, t.h2.data());
    const std::vector<int> list = expected_list(p, 0, 100, t, 4);
    for (Row& x : t.x) x = {9, 9, 9};
    CHECK(g6calc_lasthalf(id, 100, 20, t.id.data(), rows(t.x), rows(t.v), 1e-3, t.h2.data(),
                          rows(s.acc), rows(s.acc), s.pot.data()) == 0);
    CHECK(difference(s.acc, right.jerk) < 10 * tolerance);  // written last
    CHECK(difference(s.pot, right.pot) < tolerance);
    CHECK(list_of(id, 4) == list);
    // Results that nobody wants, and the same results again.
    CHECK(g6calc_lasthalf(id, 100, 20, t.id.data(), rows(t.x), rows(t.v), 1e-3, t.h2.data(),
                          rows(s.acc), nullptr, nullptr) == 0);
    CHECK(difference(s.acc, right.acc) < tolerance);
    g6_close(id);
  });
}

TEST_CASE("g6: j-particles that change between the halves belong to the next calculation") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(150, 12);
    set_all(id, p);
    for (const double time : {0.0, 0.01, 0.02}) {
      g6_set_ti(id, time);
      Targets t = targets_of(p, time, 0, 9, 1e-3);
      const Sums right = expected(p, time, 150, t);
      g6calc_firsthalf(id, 150, 9, t.id.data(), rows(t.x), rows(t.v), nullptr, nullptr, nullptr,
                       1e-3, nullptr);
      for (const std::size_t k : {3, 100, 149}) {
        p.x[k][0] += 0.3;
        set(id, p, k, k);
      }
      g6_set_ti(id, time + 1);  // of the next one, too
      Sums s(9);
      REQUIRE(g6calc_lasthalf2(id, 150, 9, t.id.data(), rows(t.x), rows(t.v), 1e-3, nullptr,
                               rows(s.acc), rows(s.jerk), s.pot.data(), s.nearest.data()) == 0);
      check(s, right, tolerance);
      g6_set_ti(id, time);
      Targets now = targets_of(p, time, 0, 9, 1e-3);
      check(calculate(id, 150, now), expected(p, time, 150, now), tolerance);
    }
    g6_close(id);
  });
}

TEST_CASE("g6: neighbour lists are sorted, unsoftened, without the particle, and of any length") {
  for_all_devices([](int id, double) {
    Particles p = random_particles(700, 12);
    for (std::size_t k = 0; k < p.size(); ++k) p.id[k] = static_cast<int>((k * 37) % 700) - 300;
    set_all(id, p);
    g6_set_ti(id, 0.1);
    Targets t = targets_of(p, 0.1, 0, 48, 0.5);
    for (std::size_t i = 0; i < t.size(); ++i)
      t.h2[i] = 0.001 * std::pow(1.2, static_cast<double>(i));
    t.h2[7] = 0;
    t.h2[8] = 100;
    calculate(id, 700, t);
    CHECK(g6_read_neighbour_list(id) == 0);
    for (std::size_t i = 0; i < t.size(); ++i)
      CHECK(list_of(id, i) == expected_list(p, 0.1, 700, t, i));
    CHECK(list_of(id, 7).empty());
    CHECK(list_of(id, 8).size() == 699);
    // Too long for the caller: the first, and 1.
    std::vector<int> first = expected_list(p, 0.1, 700, t, 8);
    first.resize(50);
    CHECK(list_of(id, 8, 50, 1) == first);
    CHECK(list_of(id, 8, 0, 1).empty());
    CHECK(list_of(id, 8, 699, 0).size() == 699);
    {
      const Variable softened("GDR_G6_SOFTENED_LISTS", "1");
      calculate(id, 700, t);
      t.h2[8] -= 0.5;
      CHECK(list_of(id, 8) == expected_list(p, 0.1, 700, t, 8));
    }
    g6_close(id);
  });
}

TEST_CASE("g6: changes of j-particles after a calculation do not matter to its lists") {
  const auto check_lists = [](int id) {
    Particles p = random_particles(300, 18);
    Targets t = targets_of(p, 0.1, 0, 40, 0.5);
    // Lists that are made on the host, then those of the device.
    for (int call = 0; call < 4; ++call) {
      set_all(id, p);
      g6_set_ti(id, 0.1);
      calculate_sums(id, 300, t);
      // A neighbour moves away, another one comes, a third gets another index, and time goes on.
      const std::vector<int> list = expected_list(p, 0.1, 300, t, 5);
      REQUIRE(list.size() > 2);
      Particles other = p;
      const auto first = static_cast<std::size_t>(list[0]);
      const auto second = static_cast<std::size_t>(list[1]);
      other.x[first] = {100, 100, 100};
      other.id[second] = 100'000;
      const std::size_t far = first == 299 ? 298 : 299;
      other.x[far] = t.x[5];
      for (const std::size_t k : {first, second, far}) set(id, other, k, k);
      g6_set_ti(id, 0.4);
      if (call % 2 == 0) CHECK(g6_read_neighbour_list(id) == 0);
      for (std::size_t i = 0; i < t.size(); ++i)
        CHECK(list_of(id, i) == expected_list(p, 0.1, 300, t, i));
    }
    g6_close(id);
  };
  for_all_devices([&](int id, double) {
    check_lists(id);
    const Variable on_device("GDR_G6_DEVICE_PREDICTION", "1");
    check_lists(id + 100'000);
  });
}

TEST_CASE("g6: of j-particles at the same distance, that with the smallest index is the nearest") {
  for_all_devices([](int id, double) {
    Row at[] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, 0, -1}, {2, 0, 0}};
    const int ids[] = {7, 3, 9, 5, 1};
    for (int k = 0; k < 5; ++k) g6_set_j_particle_mxonly(id, k, ids[k], 1, at[k].data());
    g6_set_ti(id, 0);
    Targets t{{99, 3}, {{0, 0, 0}, {-1, 0, 0}}, {{}, {}}, {0, 0}, {1.5, 1.5}};
    CHECK(calculate(id, 5, t).nearest == std::vector<int>{3, 5});
    CHECK(list_of(id, 0) == std::vector<int>{3, 5, 7, 9});
    g6_close(id);
  });
}

TEST_CASE("g6: the nearest particle is found among distances that differ by 1e-12") {
  for_all_devices([](int id, double) {
    for (const double difference : {1e-6, 1e-8, 1e-9, 1e-12}) {
      // The farther particles have smaller indices and come first.
      INFO("relative difference " << difference);
      Row at[] = {{1 + 2 * difference, 0, 0}, {0, 1 + difference, 0}, {0, 0, -1}, {-3, 0, 0}};
      for (int k = 0; k < 4; ++k) g6_set_j_particle_mxonly(id, k, 3 + 2 * k, 1, at[k].data());
      g6_set_ti(id, 0);
      Targets t{{99, 7}, {{0, 0, 0}, {0, 0, 0}}, {{}, {}}, {0, 0}, {0.1, 0.1}};
      CHECK(calculate(id, 4, t).nearest == std::vector<int>{7, 5});
    }
    g6_close(id);
  });
}

TEST_CASE("g6: each i-particle may have its own softening") {
  for_all_devices([](int id, double tolerance) {
    const Particles p = random_particles(80, 13);
    set_all(id, p);
    g6_set_ti(id, 0);
    Targets t = targets_of(p, 0, 0, 40, 0);
    for (std::size_t i = 0; i < t.size(); ++i) t.eps2[i] = 0.001 * static_cast<double>(i);
    Sums s(t.size());
    g6calc_firsthalf0(id, 80, t.count(), t.id.data(), rows(t.x), rows(t.v), nullptr, nullptr,
                      nullptr, t.eps2.data(), t.h2.data());
    CHECK(g6calc_lasthalf20(id, 80, t.count(), t.id.data(), rows(t.x), rows(t.v), t.eps2.data(),
                            t.h2.data(), rows(s.acc), rows(s.jerk), s.pot.data(),
                            s.nearest.data()) == 0);
    check(s, expected(p, 0, 80, t), tolerance);
    g6_close(id);
  });
}

TEST_CASE("g6: clusters have particles of their own, and threads use them concurrently") {
  for_all_devices([](int base, double tolerance) {
    std::vector<std::thread> threads;
    constexpr std::size_t count = 6;
    std::array<double, count> worst{};
    for (std::size_t n = 0; n < count; ++n)
      threads.emplace_back([n, base, &worst] {
        const int id = n == 0 ? -base : 1000 * base + static_cast<int>(n);
        const Particles p = random_particles(120, static_cast<unsigned>(100 + n));
        const double eps2 = 1e-3 * static_cast<double>(n + 1);
        for (int call = 0; call < 12; ++call) {
          const double time = 0.01 * call;
          if (call % 4 == 0)
            for (std::size_t k = 0; k < p.size(); ++k) {
              Row s = p.s[k], j = p.j[k], a = p.a[k];
              for (std::size_t c = 0; c < 3; ++c) {
                s[c] /= 18;
                j[c] /= 6;
                a[c] /= 2;
              }
              g6_set_j_particle(id, static_cast<int>(k), p.id[k], p.time[k], 0, p.mass[k], s.data(),
                                j.data(), a.data(), row(p.v[k]), row(p.x[k]));
            }
          g6_set_ti(id, time);
          Targets t = targets_of(p, time, 0, 30, eps2);
          Sums s(30);
          g6calc_firsthalf(id, 120, 30, t.id.data(), rows(t.x), rows(t.v), nullptr, nullptr,
                           nullptr, eps2, t.h2.data());
          const int status =
              g6calc_lasthalf2(id, 120, 30, t.id.data(), rows(t.x), rows(t.v), eps2, t.h2.data(),
                               rows(s.acc), rows(s.jerk), s.pot.data(), s.nearest.data());
          const Sums right = expected(p, time, 120, t);
          double error = std::max({difference(s.acc, right.acc), difference(s.pot, right.pot),
                                   0.1 * difference(s.jerk, right.jerk)});
          std::vector<int> list(120);
          int length = 0;
          if (status != 0 || s.nearest != right.nearest ||
              g6_get_neighbour_list(id, 7, 120, &length, list.data()) != 0)
            error = INFINITY;
          list.resize(static_cast<std::size_t>(length));
          if (list != expected_list(p, time, 120, t, 7)) error = INFINITY;
          worst[n] = std::max(worst[n], error);
          if (call % 4 == 3) g6_close(id);
        }
      });
    for (std::thread& t : threads) t.join();
    for (const double w : worst) CHECK(w < tolerance);
  });
}

TEST_CASE("g6: the forms for Fortran do the same") {
  for_all_devices([](int id, double tolerance) {
    const Particles p = random_particles(60, 14);
    set_all(id, p);
    double time = 0.05, eps2 = 1e-3;
    int nj = 60, ni = 25, zero = 0, capacity = 100, length = 0;
    CHECK(g6_set_ti_(&id, &time) == 0);
    Targets t = targets_of(p, time, 0, 25, eps2);
    Sums s(25);
    g6calc_firsthalf_(&id, &nj, &ni, t.id.data(), rows(t.x), rows(t.v), nullptr, nullptr, nullptr,
                      &eps2, t.h2.data());
    CHECK(g6calc_lasthalf2_(&id, &nj, &ni, t.id.data(), rows(t.x), rows(t.v), &eps2, t.h2.data(),
                            rows(s.acc), rows(s.jerk), s.pot.data(), s.nearest.data()) == 0);
    check(s, expected(p, time, 60, t), tolerance);
    std::vector<int> list(100);
    CHECK(g6_read_neighbour_list_(&id) == 0);
    CHECK(g6_get_neighbour_list_(&id, &zero, &capacity, &length, list.data()) == 0);
    list.resize(static_cast<std::size_t>(length));
    CHECK(list == expected_list(p, time, 60, t, 0));
    CHECK(g6_close_(&id) == 0);
  });
}

TEST_CASE("g6: sizes for the arrays of clients") {
  CHECK(g6_npipes() == 48);
  CHECK(g6_npipes_() == 48);
  CHECK(g6_getnjmax(3) >= 1 << 20);
  CHECK(get_device_count() == 1);
  const Variable pipes("GDR_G6_PIPES", "1024");
  CHECK(g6_npipes() == 1024);
}
