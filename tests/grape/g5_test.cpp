// Conformance of libg5: every statement of its header, on native, exact and board devices, against
// plain loops in double precision.
#include <algorithm>
#include <cfenv>
#include <climits>
#include <cmath>
#include <functional>
#include <thread>
#include <utility>

#include "grape/g5_calls.hpp"

using namespace grape_test;
using namespace grape_test::g5;

TEST_CASE("g5: the potential is positive and contains the pair of a particle with itself") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(300, 1);
    g5_openMC(id);
    g5_set_rangeMC(id, -1, 1, 1e-9);
    g5_set_eps_to_allMC(id, 0.05);
    set_all(id, p);
    const std::vector<Row> x = first(p, 70);
    const Sums s = run(id, x);
    check(s, expected(p, 300, x, std::vector<double>(70, 0.0025)), tolerance);
    CHECK(s.pot[0] > p.mass[0] / 0.05);
    g5_closeMC(id);
  });
}

TEST_CASE("g5: pairs at the same place without softening contribute nothing") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(50, 2);
    p.x[3] = p.x[7];
    g5_set_eps_to_allMC(id, 0);
    set_all(id, p);
    const Sums s = run(id, first(p, 50));
    for (const double pot : s.pot) CHECK(std::isfinite(pot));
    check(s, expected(p, 50, p.x, std::vector<double>(50)), tolerance);
    g5_closeMC(id);
  });
}

TEST_CASE("g5: j-particles are set in parts, in every dialect") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(200, 3);
    const std::vector<double> eps2(200, 0.01);
    g5_set_eps2_to_allMC(id, 0.01);
    g5_set_nMC(id, 200);
    g5_set_jpMC(id, 100, 100, p.mass.data() + 100, rows(p.x) + 100);
    g5_set_xjMC(id, 0, 100, rows(p.x));
    g5_set_mjMC(id, 0, 100, p.mass.data());
    check(run(id, p.x), expected(p, 200, p.x, eps2), tolerance);
    // Changes, fewer, more again, none.
    p.x[150] = {0.1, 0.2, 0.3};
    p.mass[20] = 5;
    g5_set_xjMC(id, 150, 1, rows(p.x) + 150);
    g5_set_mjMC(id, 20, 1, p.mass.data() + 20);
    check(run(id, p.x), expected(p, 200, p.x, eps2), tolerance);
    g5_set_nMC(id, 120);
    p.x[160] = {0.3, 0.2, 0.1};
    g5_set_xjMC(id, 160, 1, rows(p.x) + 160);
    check(run(id, p.x), expected(p, 120, p.x, eps2), tolerance);
    g5_set_nMC(id, 200);
    check(run(id, p.x), expected(p, 200, p.x, eps2), tolerance);
    g5_set_nMC(id, 0);
    CHECK(run(id, p.x).pot == std::vector<double>(200));
    CHECK(run(id, {}).pot.empty());
    g5_closeMC(id);
  });
}

TEST_CASE("g5: softening of j-particles is added to that of i-particles") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(100, 4);
    std::vector<double> own(100);
    for (std::size_t j = 0; j < own.size(); ++j) own[j] = 1e-4 * static_cast<double>(j);
    g5_set_nMC(id, 100);
    g5_set_eps_to_allMC(id, 0.01);
    g5_set_xmeps2jMC(id, 0, 100, rows(p.x), p.mass.data(), own.data());
    const std::vector<double> eps2(100, 1e-4);
    check(run(id, p.x), expected(p, 100, p.x, eps2, own), tolerance);
    // Particles that are set without softening have none.
    g5_set_xmjMC(id, 50, 50, rows(p.x) + 50, p.mass.data() + 50);
    std::fill(own.begin() + 50, own.end(), 0);
    check(run(id, p.x), expected(p, 100, p.x, eps2, own), tolerance);
    g5_closeMC(id);
  });
}

TEST_CASE("g5: i-particles have their own softening in every dialect") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(90, 5);
    set_all(id, p);
    g5_set_eps_to_allMC(id, 0.3);
    std::vector<Row> x = first(p, 40);
    std::vector<double> eps(40), eps2(40), radius(40, 1);
    for (std::size_t i = 0; i < 40; ++i) {
      eps[i] = 0.01 + 0.01 * static_cast<double>(i);
      eps2[i] = eps[i] * eps[i];
    }
    const Sums right = expected(p, 90, x, eps2);
    const auto result = [&] {
      Sums s(40);
      g5_runMC(id);
      g5_get_forceMC(id, 40, rows(s.acc), s.pot.data());
      return s;
    };
    g5_set_xeiMC(id, 40, rows(x), eps2.data());
    check(result(), right, tolerance);
    g5_set_xepsiMC(id, 40, rows(x), eps.data());
    check(result(), right, tolerance);
    g5_set_ipMC(id, 40, rows(x), eps.data(), radius.data());
    check(result(), right, tolerance);
    Sums s(40);
    g5_calculate_force_on_xeMC(id, rows(x), eps2.data(), rows(s.acc), s.pot.data(), 40);
    check(s, right, tolerance);
    // The next i-particles have that of all again, until g5_set_eps.
    check(run(id, x), expected(p, 90, x, std::vector<double>(40, 0.09)), tolerance);
    g5_set_epsMC(id, 40, eps.data());
    check(run(id, x), right, tolerance);
    g5_set_eps2MC(id, 40, eps2.data());
    check(run(id, x), right, tolerance);
    g5_set_eps2_to_allMC(id, 0.04);
    check(run(id, x), expected(p, 90, x, std::vector<double>(40, 0.04)), tolerance);
    g5_closeMC(id);
  });
}

TEST_CASE("g5: calculate_force_on_x takes any number of i-particles") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(1000, 6);
    set_all(id, p);
    g5_set_eps_to_allMC(id, 0.1);
    Sums s(1000);
    g5_calculate_force_on_xMC(id, rows(p.x), rows(s.acc), s.pot.data(), 1000);
    check(s, expected(p, 1000, p.x, std::vector<double>(1000, 0.01)), tolerance);
    g5_closeMC(id);
  });
}

TEST_CASE("g5: engines among floats are as accurate as documented, on every instruction set") {
  const struct {
    const char* engine;
    double acceleration, potential;
  } modes[] = {
      {"native-mixed", 1e-7, 1e-7}, {"native-float", 2e-6, 1e-6}, {"native-fast", 5e-5, 5e-5}};
  Particles p = plummer_particles(2048, 10);
  const double eps = 0.01;
  const Sums right = expected(p, 2048, p.x, std::vector<double>(2048, eps * eps));
  for (const auto& mode : modes)
    for_all_isas(mode.engine, [&](int id) {
      set_all(id, p);
      g5_set_eps_to_allMC(id, eps);
      const Sums s = run(id, p.x);
      const double acceleration = rms_error(s.acc, right.acc);
      const double potential = rms_error(s.pot, right.pot);
      INFO("acceleration " << acceleration << ", potential " << potential);
      CHECK(acceleration < mode.acceleration);
      CHECK(acceleration > 1e-9);
      CHECK(potential < mode.potential);
      g5_closeMC(id);
    });
}

TEST_CASE("g5: forces do not depend on the caller's rounding mode") {
  for_all_devices([](int id, double) {
    const auto sums = [id](int mode) {
      Particles p = random_particles(200, 11);
      std::fesetround(mode);
      g5_openMC(id);
      g5_set_eps_to_allMC(id, 0.05);
      set_all(id, p);
      Sums s = run(id, p.x);
      g5_closeMC(id);
      std::fesetround(FE_TONEAREST);
      return s;
    };
    const Sums expected_sums = sums(FE_TONEAREST);
    for (const int mode : {FE_UPWARD, FE_TOWARDZERO}) {
      const Sums s = sums(mode);
      CHECK((s.acc == expected_sums.acc && s.pot == expected_sums.pot));
    }
  });
}

TEST_CASE("g5: devices are independent, and threads use them concurrently") {
  for_all_devices([](int base, double tolerance) {
    std::vector<std::thread> threads;
    constexpr std::size_t count = 6;
    std::array<double, count> worst{};
    for (std::size_t n = 0; n < count; ++n)
      threads.emplace_back([n, base, &worst] {
        const int id = n == 0 ? -base : 1000 * base + static_cast<int>(n);
        Particles p = random_particles(150, static_cast<unsigned>(20 + n));
        const double eps = 0.01 * static_cast<double>(n + 1);
        const Sums right = expected(p, 150, p.x, std::vector<double>(150, eps * eps));
        for (int call = 0; call < 12; ++call) {
          if (call % 4 == 0) {
            g5_openMC(id);
            g5_set_eps_to_allMC(id, eps);
            set_all(id, p);
          }
          const Sums s = run(id, p.x);
          worst[n] =
              std::max({worst[n], difference(s.acc, right.acc), difference(s.pot, right.pot)});
          if (call % 4 == 3) g5_closeMC(id);
        }
      });
    for (std::thread& t : threads) t.join();
    for (const double w : worst) CHECK(w < tolerance);
  });
}

TEST_CASE("g5: functions without a device use device 0, and those for Fortran do the same") {
  Particles p = random_particles(64, 8);
  std::vector<Row> x = first(p, 10);
  Sums c(10), fortran(10), other(10);
  g5_set_range(-1, 1, 1e-3);
  g5_open();
  g5_set_eps_to_all(0.1);
  g5_set_n(64);
  g5_set_xmj(0, 64, rows(p.x), p.mass.data());
  g5_set_xi(10, rows(x));
  g5_run();
  g5_get_force(10, rows(c.acc), c.pot.data());
  check(c, expected(p, 64, x, std::vector<double>(10, 0.1 * 0.1)), 1e-13);

  int id = 0, n = 64, ni = 10, address = 0;
  double eps = 0.2;
  g5_set_eps_to_all_(&eps);
  g5_set_nMC_(&id, &n);
  g5_set_jp_(&address, &n, p.mass.data(), rows(p.x));
  g5_calculate_force_on_x_(rows(x), rows(fortran.acc), fortran.pot.data(), &ni);
  check(fortran, expected(p, 64, x, std::vector<double>(10, 0.2 * 0.2)), 1e-13);
  id = 1234;
  g5_set_eps_to_allMC_(&id, &eps);
  g5_set_nMC_(&id, &n);
  g5_set_xmjMC_(&id, &address, &n, rows(p.x), p.mass.data());
  g5_set_xiMC_(&id, &ni, rows(x));
  g5_runMC_(&id);
  g5_get_forceMC_(&id, &ni, rows(other.acc), other.pot.data());
  CHECK(other.acc == fortran.acc);
  CHECK(other.pot == fortran.pot);
  g5_closeMC_(&id);
  g5_close();
}

TEST_CASE("g5: sizes for the arrays of clients") {
  CHECK(g5_get_number_of_pipelines() == 96);
  CHECK(g5_get_number_of_real_pipelines_() == 96);
  CHECK(g5_get_number_of_pipelines_per_boardMC(4) == 96);
  CHECK(g5_get_number_of_boards() == 1);
  CHECK(g5_get_firstcluster() == 0);
  CHECK(g5_get_jmemsize() == JMEMSIZE);
  const Variable pipes("GDR_G5_PIPES", "500");
  CHECK(g5_get_number_of_pipelines() == 500);
}

TEST_CASE("g5: softening that is set after the i-particles is that of the run") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(80, 14);
    set_all(id, p);
    std::vector<Row> x = first(p, 20);
    std::vector<double> eps(20), eps2(20), others(20);
    for (std::size_t i = 0; i < 20; ++i) {
      eps[i] = 0.01 + 0.01 * static_cast<double>(i);
      eps2[i] = eps[i] * eps[i];
      others[i] = 0.3;
    }
    const auto result = [&] {
      Sums s(20);
      g5_runMC(id);
      g5_get_forceMC(id, 20, rows(s.acc), s.pot.data());
      return s;
    };
    const auto all = [&](double e) { return expected(p, 80, x, std::vector<double>(20, e)); };
    g5_set_eps_to_allMC(id, 0.5);
    g5_set_xiMC(id, 20, rows(x));
    g5_set_eps_to_allMC(id, 0.1);
    check(result(), all(0.1 * 0.1), tolerance);
    g5_set_eps2_to_allMC(id, 0.04);
    check(result(), all(0.04), tolerance);
    g5_set_epsMC(id, 20, eps.data());
    check(result(), expected(p, 80, x, eps2), tolerance);
    g5_set_eps2MC(id, 20, others.data());
    check(result(), all(0.3), tolerance);
    // Also in place of softening that came with the i-particles.
    g5_set_xeiMC(id, 20, rows(x), eps2.data());
    check(result(), expected(p, 80, x, eps2), tolerance);
    g5_set_eps2_to_allMC(id, 0.09);
    check(result(), all(0.09), tolerance);
    g5_set_xepsiMC(id, 20, rows(x), eps.data());
    g5_set_eps2MC(id, 20, others.data());
    check(result(), all(0.3), tolerance);
    g5_set_ipMC(id, 20, rows(x), eps.data(), nullptr);
    check(result(), expected(p, 80, x, eps2), tolerance);
    // For fewer i-particles, the others have that of all.
    g5_set_eps2_to_allMC(id, 0.3);
    g5_set_eps2MC(id, 12, eps2.data());
    std::copy(eps2.begin(), eps2.begin() + 12, others.begin());
    check(result(), expected(p, 80, x, others), tolerance);
    g5_closeMC(id);
  });
}
