// Conformance of libg5: every statement of its header, on native, exact and board devices, against
// plain loops in double precision.
#include <climits>
#include <cmath>
#include <thread>

#include "grape/support.hpp"
#include "libgdr/compat/grape/gp5util.h"
#include "support/catch.hpp"

using namespace grape_test;

namespace {

struct Sums {
  explicit Sums(std::size_t n) : acc(n), pot(n) {}
  std::vector<Row> acc;
  std::vector<double> pot;
};

/// The definition, with a factor of force and potential for each softened distance.
template <typename Force, typename Potential>
Sums expected(const Particles& p, std::size_t nj, const std::vector<Row>& x,
              const std::vector<double>& eps2, const std::vector<double>& source_eps2, Force force,
              Potential potential) {
  Sums s(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < nj; ++j) {
      Row d{};
      double r2 = eps2[i] + (source_eps2.empty() ? 0 : source_eps2[j]);
      for (std::size_t c = 0; c < 3; ++c) {
        d[c] = p.x[j][c] - x[i][c];
        r2 += d[c] * d[c];
      }
      if (r2 == 0) continue;
      const double r = std::sqrt(r2);
      for (std::size_t c = 0; c < 3; ++c) s.acc[i][c] += p.mass[j] / (r2 * r) * d[c] * force(r);
      s.pot[i] += p.mass[j] / r * potential(r);
    }
  return s;
}

Sums expected(const Particles& p, std::size_t nj, const std::vector<Row>& x,
              const std::vector<double>& eps2, const std::vector<double>& source_eps2 = {}) {
  const auto one = [](double) { return 1.0; };
  return expected(p, nj, x, eps2, source_eps2, one, one);
}

void check(const Sums& got, const Sums& right, double tolerance) {
  CHECK(difference(got.acc, right.acc) < tolerance);
  CHECK(difference(got.pot, right.pot) < tolerance);
}

void set_all(int id, Particles& p) {
  const int n = static_cast<int>(p.size());
  g5_set_nMC(id, n);
  g5_set_xmjMC(id, 0, n, rows(p.x), p.mass.data());
}

Sums run(int id, std::vector<Row> x) {
  Sums s(x.size());
  g5_set_xiMC(id, static_cast<int>(x.size()), rows(x));
  g5_runMC(id);
  g5_get_forceMC(id, static_cast<int>(x.size()), rows(s.acc), s.pot.data());
  return s;
}

std::vector<Row> first(const Particles& p, std::size_t n) {
  return {p.x.begin(), p.x.begin() + static_cast<std::ptrdiff_t>(n)};
}

}  // namespace

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

namespace {

double force_factor(double r) { return std::exp(-r * r) * (1 + r); }
double potential_factor(double r) { return std::exp(-r * r); }

}  // namespace

TEST_CASE("g5: a cut-off multiplies forces and potentials by functions of r / eta") {
  const int id = 31;
  Particles p = random_particles(200, 7);
  set_all(id, p);
  g5_set_eps_to_allMC(id, 0.01);
  CHECK(messages_of([&] {
          g5_set_cutoff_tableMC(id, force_factor, 2.0, 1.5, potential_factor, 1.5, 1.0);
        }) == "");
  CHECK(messages_of([&] { run(id, first(p, 3)); }).find("g5_set_eta") != std::string::npos);
  const double eta = 0.2;
  g5_set_etaMC(id, eta);
  const std::vector<double> eps2(200, 1e-4);
  check(run(id, p.x),
        expected(
            p, 200, p.x, eps2, {},
            [&](double r) { return r / eta < 2 ? 1.5 * force_factor(r / eta) : 0; },
            [&](double r) { return r / eta < 1.5 ? potential_factor(r / eta) : 0; }),
        1e-10);
  CHECK(messages_of([&] {
          g5_set_cutoff_tableMC(id, force_factor, 0, 1, potential_factor, 1, 1);
        }).find("cut-off is at 0") != std::string::npos);
  g5_set_cutoff_tableMC(id, nullptr, 0, 0, nullptr, 0, 0);
  check(run(id, p.x), expected(p, 200, p.x, eps2), 1e-13);
  g5_closeMC(id);
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

TEST_CASE("g5: devices are independent, and threads use them concurrently") {
  std::vector<std::thread> threads;
  std::array<double, 4> worst{};
  for (int n = 0; n < 4; ++n)
    threads.emplace_back([n, &worst] {
      const int id = n == 0 ? -1 : 900 + n;
      Particles p = random_particles(150, static_cast<unsigned>(20 + n));
      const double eps = 0.01 * (n + 1);
      g5_openMC(id);
      g5_set_eps_to_allMC(id, eps);
      set_all(id, p);
      for (int call = 0; call < 50; ++call)
        worst[static_cast<std::size_t>(n)] =
            std::max(worst[static_cast<std::size_t>(n)],
                     difference(run(id, p.x).acc,
                                expected(p, 150, p.x, std::vector<double>(150, eps * eps)).acc));
      g5_closeMC(id);
    });
  for (std::thread& t : threads) t.join();
  for (const double w : worst) CHECK(w < 1e-13);
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

TEST_CASE("g5: invalid calls give a message and leave results alone") {
  const int id = 4321;
  Particles p = random_particles(20, 9);
  Sums s(20);
  const auto contains = [](const std::string& text, const char* part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  contains(messages_of([&] { g5_set_nMC(id, -4); }), "gdr: g5_set_n: the number of j-particles");
  g5_set_nMC(id, 30);
  contains(messages_of([&] { g5_set_xmjMC(id, -1, 20, rows(p.x), p.mass.data()); }),
           "addresses -1 to 18");
  contains(messages_of([&] { g5_set_xmjMC(id, INT_MAX - 5, 20, rows(p.x), p.mass.data()); }),
           "addresses 2147483642 to 2147483661");
  g5_set_xmjMC(id, 0, 20, rows(p.x), p.mass.data());
  g5_set_xiMC(id, 5, rows(p.x));
  contains(messages_of([&] { g5_runMC(id); }), "30 j-particles are used, but only 20 were set");
  contains(messages_of([&] { g5_get_forceMC(id, 5, rows(s.acc), s.pot.data()); }),
           "results of 5 i-particles");
  contains(messages_of([&] { g5_set_xiMC(id, 5, nullptr); }), "null pointer");
  contains(messages_of([&] { g5_set_eps2_to_allMC(id, -1); }), "softening is -1");
  g5_set_nMC(id, 20);
  p.x[4][1] = NAN;
  g5_set_xjMC(id, 4, 1, rows(p.x) + 4);
  contains(messages_of([&] { g5_runMC(id); }), "yj");
  CHECK(s.pot == std::vector<double>(20));
  p.x[4][1] = 0;
  g5_set_xjMC(id, 4, 1, rows(p.x) + 4);
  g5_set_eps_to_allMC(id, 0.1);
  check(run(id, p.x), expected(p, 20, p.x, std::vector<double>(20, 0.1 * 0.1)), 1e-13);
  g5_closeMC(id);
}
