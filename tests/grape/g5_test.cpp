// Conformance of libg5: every statement of its header, on native, exact and board devices, against
// plain loops in double precision.
#include <algorithm>
#include <climits>
#include <cmath>
#include <functional>
#include <thread>
#include <utility>

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

/// Another message, after which none is a repetition: those are not written.
void forget_message() {
  messages_of([] { g5_set_nMC(7, -1); });
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
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(200, 7);
    set_all(id, p);
    g5_set_eps_to_allMC(id, 0.01);
    CHECK(messages_of([&] {
            g5_set_cutoff_tableMC(id, force_factor, 2.0, 1.5, potential_factor, 1.5, 1.0);
          }) == "");
    // An eta of its own, since a message that repeats the last one is not written.
    g5_set_etaMC(id, -id);
    CHECK(messages_of([&] { run(id, first(p, 3)); }).find("g5_set_eta") != std::string::npos);
    const double eta = 0.2;
    g5_set_etaMC(id, eta);
    const std::vector<double> eps2(200, 1e-4);
    check(run(id, p.x),
          expected(
              p, 200, p.x, eps2, {},
              [&](double r) { return r / eta < 2 ? 1.5 * force_factor(r / eta) : 0; },
              [&](double r) { return r / eta < 1.5 ? potential_factor(r / eta) : 0; }),
          1e-12);
    g5_set_cutoff_tableMC(id, nullptr, 0, 0, nullptr, 0, 0);
    check(run(id, p.x), expected(p, 200, p.x, eps2), tolerance);
    g5_closeMC(id);
  });
}

namespace {

double one(double) { return 1; }
double half(double) { return 0.5; }
double sine_over_r(double r) { return std::sin(r) / r; }
/// Not a number at 2 and beyond.
double sine_over_2_minus_r(double r) { return r < 2 ? std::sin(2 - r) / (2 - r) : NAN; }
double root(double r) { return std::sqrt(2 - r); }
double step(double r) { return r < 1 ? 1 : 0; }
double saw(double r) { return r < 1 ? r : r < 1.7 ? 3 - r : 0.25; }
double kink(double r) { return r < 0.7 ? 1 - r : 0.3; }
double ripples(double r) { return 2 + std::sin(80 * r); }
double undefined_inside(double r) { return std::sqrt(1 - r); }

/// The factors of force and potential of a pair at a distance, without softening and with eta = 1.
std::pair<double, double> factors(int id, double r) {
  std::vector<Row> zero{{0, 0, 0}}, x{{r, 0, 0}};
  double mass = 1;
  g5_set_nMC(id, 1);
  g5_set_eps_to_allMC(id, 0);
  g5_set_etaMC(id, 1);
  g5_set_xmjMC(id, 0, 1, rows(zero), &mass);
  const Sums s = run(id, x);
  return {-s.acc[0][0] * r * r, s.pot[0] * r};
}

}  // namespace

TEST_CASE("g5: a cut-off that is refused leaves the former one") {
  const int id = 31;
  const auto refused = [&](auto f, double fcut, double fcor, auto p, double pcut, double pcor) {
    const std::string text =
        messages_of([&] { g5_set_cutoff_tableMC(id, f, fcut, fcor, p, pcut, pcor); });
    CHECK(factors(id, 1) == std::pair{0.5, 0.5});
    return text;
  };
  g5_set_cutoff_tableMC(id, half, 2, 1, half, 2, 1);
  CHECK(factors(id, 1) == std::pair{0.5, 0.5});
  CHECK_THAT(refused(one, 0, 1, one, 2, 1), Catch::Contains("g5_set_cutoff_table: fcut is 0;"));
  CHECK_THAT(refused(one, 2, 1, one, -3, 1), Catch::Contains("pcut is -3;"));
  CHECK_THAT(refused(one, 2, NAN, one, 2, 1), Catch::Contains("fcor is nan;"));
  CHECK_THAT(refused(one, INFINITY, 1, one, 2, 1), Catch::Contains("fcut is inf;"));
  CHECK_THAT(refused(one, 2, 1, undefined_inside, 2, 1), Catch::Contains("not finite at R = 1"));
  CHECK_THAT(refused(one, 2, 1, nullptr, 2, 1), Catch::Contains("pfunc is a null pointer"));
  g5_closeMC(id);
}

TEST_CASE("g5: cut-off functions may be undefined at R = 0 and where the cut-off is") {
  const int id = 32;
  for (double (*const f)(double) : {sine_over_r, sine_over_2_minus_r, root}) {
    CHECK(messages_of([&] { g5_set_cutoff_tableMC(id, f, 2, 1, f, 2, 3); }) == "");
    for (const double r : {1e-9, 1e-3, 0.5, 1.0, 1.5, 1.9, 1.999, 2 - 1e-6}) {
      const auto [force, potential] = factors(id, r);
      INFO("R = " << r);
      CHECK(std::abs(force / f(r) - 1) < 1e-11);
      CHECK(std::abs(potential / (3 * f(r)) - 1) < 1e-11);
    }
    CHECK(factors(id, 2) == std::pair{-0.0, 0.0});
  }
  g5_closeMC(id);
}

TEST_CASE("g5: cut-off functions with jumps do not overshoot") {
  const int id = 33;
  std::vector<double> places;
  for (const double jump : {0.7, 1.0, 1.7})
    for (double d = 1e-15; d < 0.3; d *= 1.7) {
      places.push_back(jump - d);
      places.push_back(jump + d);
    }
  // With jumps at the ends of equal intervals and anywhere else.
  for (const double end : {2.0, 2.1, 1.9 + 1e-5})
    for (double (*const f)(double) : {step, saw, kink, ripples, force_factor, half}) {
      g5_set_cutoff_tableMC(id, f, end, 1, f, end, 1);
      for (const double r : places) {
        const auto [force, potential] = factors(id, r);
        INFO("R = " << r << " of " << end);
        // At a jump the value of either side, and of nothing else.
        const double below = f(r - 1e-13), above = f(r + 1e-13);
        for (const double value : {force, potential})
          CHECK(std::min({std::abs(value - f(r)), std::abs(value - below),
                          std::abs(value - above)}) < 2e-12);
      }
    }
  g5_closeMC(id);
}

TEST_CASE("g5: cut-off functions with noise are interpolated between samples") {
  const int id = 34;
  const auto in_floats = [](double r) {
    return static_cast<double>(std::exp(-static_cast<float>(r * r)));
  };
  const auto wild = [](double r) { return std::fmod(1e6 * std::sin(1e9 * r), 1); };
  g5_set_cutoff_tableMC(id, in_floats, 2, 1, wild, 2, 1);
  for (double r = 0.01; r < 2; r += 0.01) {
    const auto [force, potential] = factors(id, r);
    CHECK(std::abs(force - std::exp(-r * r)) < 1e-6);
    CHECK(std::abs(potential) < 1);
  }
  g5_closeMC(id);
}

TEST_CASE("g5: with a cut-off, numbers that are not finite are refused as without") {
  for_all_devices([](int id, double) {
    Particles p = random_particles(20, 9);
    const auto message = [&](std::vector<Row> x) {
      Sums s(x.size());
      s.pot[0] = s.acc[0][0] = 7;
      std::string text = messages_of([&] {
        g5_calculate_force_on_xMC(id, rows(x), rows(s.acc), s.pot.data(),
                                  static_cast<int>(x.size()));
      });
      CHECK(s.pot[0] == 7);
      CHECK(s.acc[0][0] == 7);
      forget_message();
      return text;
    };
    g5_set_etaMC(id, 1);
    std::string with[4];
    for (const bool cutoff : {true, false}) {
      if (cutoff)
        g5_set_cutoff_tableMC(id, half, 2, 1, half, 2, 1);
      else
        g5_set_cutoff_tableMC(id, nullptr, 0, 0, nullptr, 0, 0);
      std::vector<Row> x = first(p, 5);
      x[3][1] = NAN;
      set_all(id, p);
      const auto compare = [&](std::string& text, const std::string& now, const char* part) {
        CHECK_THAT(now, Catch::Contains(part));
        if (!cutoff) CHECK(text == now);
        text = now;
      };
      compare(with[0], message(x), "\"yi\"[3] is not a number");
      x[3][1] = 0;
      const Particles good = p;
      p.x[6][2] = -INFINITY;
      set_all(id, p);
      compare(with[1], message(x), "\"zj\"[6] is infinite");
      p = good;
      p.mass[0] = NAN;
      set_all(id, p);
      compare(with[2], message(x), "\"mj\"[0] is not a number");
      p = good;
      // Too close, and too far away, for a sum in doubles.
      set_all(id, p);
      x = {p.x[2]};
      p.x[2][0] = x[0][0] = 0;
      x[0][0] = 1e-120;
      set_all(id, p);
      g5_set_eps_to_allMC(id, 0);
      compare(with[3], message(x), "acceleration of i-particle 0 is not finite");
      p = good;
    }
    g5_closeMC(id);
  });
}

namespace {

extern "C" double fortran_force_factor(double* r) { return force_factor(*r); }
extern "C" double fortran_potential_factor(double* r) { return potential_factor(*r); }

}  // namespace

TEST_CASE("g5: cut-off functions of Fortran take their argument by its address") {
  double fcut = 2, fcor = 1.5, pcut = 1.5, pcor = 2, eta = 0.2;
  int any = 35;
  const auto sums = [](int id) {
    Particles p = random_particles(60, 11);
    g5_set_eps_to_allMC(id, 0.01);
    set_all(id, p);
    return run(id, p.x);
  };
  g5_set_eta(eta);
  g5_set_cutoff_table(force_factor, fcut, fcor, potential_factor, pcut, pcor);
  const Sums right = sums(0);
  g5_close();
  g5_set_eta_(&eta);
  g5_set_cutoff_table_(fortran_force_factor, &fcut, &fcor, fortran_potential_factor, &pcut, &pcor);
  const Sums fortran = sums(0);
  g5_close();
  g5_set_etaMC_(&any, &eta);
  g5_set_cutoff_tableMC_(&any, fortran_force_factor, &fcut, &fcor, fortran_potential_factor, &pcut,
                         &pcor);
  const Sums other = sums(any);
  g5_closeMC(any);
  CHECK(fortran.acc == right.acc);
  CHECK(fortran.pot == right.pot);
  CHECK(other.acc == right.acc);
  CHECK(other.pot == right.pot);
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
           "there are no results");
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

TEST_CASE("g5: results stay as they are after a run that failed") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(30, 12);
    const std::vector<double> eps2(10, 0.01);
    g5_set_eps_to_allMC(id, 0.1);
    set_all(id, p);
    std::vector<Row> x = first(p, 10), bad{{0, NAN, 0}};
    Sums s = run(id, x);
    const Sums right = s;
    check(s, expected(p, 30, x, eps2), tolerance);
    g5_set_xjMC(id, 4, 1, rows(bad));
    const auto get = [&](int n) {
      return messages_of([&] { g5_get_forceMC(id, n, rows(s.acc), s.pot.data()); });
    };
    CHECK_THAT(messages_of([&] { g5_runMC(id); }), Catch::Contains("\"yj\"["));
    CHECK_THAT(get(10), Catch::Contains("there are no results"));
    CHECK_THAT(
        messages_of([&] { g5_calculate_force_on_xMC(id, rows(x), rows(s.acc), s.pot.data(), 10); }),
        Catch::Contains("\"yj\"["));
    CHECK(s.acc == right.acc);
    CHECK(s.pot == right.pot);
    g5_set_xjMC(id, 4, 1, rows(p.x) + 4);
    g5_runMC(id);
    CHECK(get(10) == "");
    CHECK(s.acc == right.acc);
    g5_closeMC(id);
  });
}

TEST_CASE("g5: results of other i-particles, or of more, are not given") {
  const int id = 4322;
  Particles p = random_particles(30, 13);
  set_all(id, p);
  Sums s(10);
  s.pot.assign(10, 7);
  const auto get = [&](int n) {
    std::string text = messages_of([&] { g5_get_forceMC(id, n, rows(s.acc), s.pot.data()); });
    forget_message();
    return text;
  };
  CHECK_THAT(get(1), Catch::Contains("there are no results"));  // nothing was computed yet
  g5_set_xiMC(id, 0, rows(p.x));
  g5_runMC(id);
  CHECK(get(0) == "");
  CHECK_THAT(get(1), Catch::Contains("results of 1 i-particles are wanted, but there are 0"));
  g5_set_xiMC(id, 4, rows(p.x));
  CHECK_THAT(get(4), Catch::Contains("there are no results"));
  g5_runMC(id);
  CHECK_THAT(get(5), Catch::Contains("results of 5 i-particles are wanted, but there are 4"));
  CHECK_THAT(messages_of([&] { g5_get_forceMC(id, 4, nullptr, s.pot.data()); }),
             Catch::Contains("null pointer"));
  CHECK(s.pot == std::vector<double>(10, 7));
  CHECK(get(4) == "");
  CHECK(s.pot[3] != 7);
  CHECK(s.pot[4] == 7);
  // Settings and j-particles do not change the results of a run.
  const std::vector<double> before = s.pot;
  g5_set_eps_to_allMC(id, 3);
  g5_set_nMC(id, 2);
  CHECK(get(4) == "");
  CHECK(s.pot == before);
  g5_closeMC(id);
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

TEST_CASE("g5: j-particles that were never set, or only in part, are not used") {
  for_all_devices([](int id, double tolerance) {
    Particles p = random_particles(40, 15);
    std::vector<Row> x = first(p, 5);
    std::vector<double> eps2(5, 0.01);
    g5_set_eps_to_allMC(id, 0.1);
    const auto message = [&] {
      std::string text = messages_of([&] { CHECK(run(id, x).pot == std::vector<double>(5)); });
      forget_message();
      return text;
    };
    g5_set_nMC(id, 40);
    g5_set_xmjMC(id, 20, 20, rows(p.x) + 20, p.mass.data() + 20);
    CHECK_THAT(message(), Catch::Contains("40 j-particles are used, but that of address 0 was"));
    g5_set_jpMC(id, 0, 10, p.mass.data(), rows(p.x));
    CHECK_THAT(message(), Catch::Contains("that of address 10 was never set"));
    g5_set_xjMC(id, 10, 10, rows(p.x) + 10);
    CHECK_THAT(message(), Catch::Contains("the mass of address 10 was never set"));
    g5_set_mjMC(id, 10, 9, p.mass.data() + 10);
    CHECK_THAT(message(), Catch::Contains("the mass of address 19 was never set"));
    g5_set_nMC(id, 19);
    check(run(id, x), expected(p, 19, x, eps2), tolerance);
    g5_set_nMC(id, 40);
    g5_set_mjMC(id, 19, 1, p.mass.data() + 19);
    check(run(id, x), expected(p, 40, x, eps2), tolerance);
    g5_set_nMC(id, 42);
    g5_set_mjMC(id, 40, 2, p.mass.data());
    CHECK_THAT(message(), Catch::Contains("the position of address 40 was never set"));
    g5_closeMC(id);
  });
}

TEST_CASE("g5: null pointers and negative softening are refused, and change nothing") {
  const int id = 4323;
  Particles p = random_particles(30, 16);
  std::vector<double> bad(30, 0.01);
  bad[3] = -0.5;
  set_all(id, p);
  g5_set_eps_to_allMC(id, 0.1);
  const std::vector<Row> x = first(p, 5);
  const Sums right = expected(p, 30, x, std::vector<double>(5, 0.1 * 0.1));
  Sums s(5);
  s.pot.assign(5, 7);
  double(*const at)[3] = rows(p.x);
  double* const m = p.mass.data();
  const std::vector<std::pair<std::function<void()>, const char*>> calls{
      {[&] { g5_set_xmjMC(id, 0, 5, nullptr, m); }, "g5_set_xmj: an array for 5 j-particles"},
      {[&] { g5_set_xmjMC(id, 0, 5, at, nullptr); }, "null pointer"},
      {[&] { g5_set_jpMC(id, 0, 5, nullptr, at); }, "g5_set_jp: an array for 5 j-particles"},
      {[&] { g5_set_jpMC(id, 0, 5, m, nullptr); }, "null pointer"},
      {[&] { g5_set_xjMC(id, 0, 5, nullptr); }, "g5_set_xj: an array for 5 j-particles"},
      {[&] { g5_set_mjMC(id, 0, 5, nullptr); }, "g5_set_mj: an array for 5 j-particles"},
      {[&] { g5_set_xmeps2jMC(id, 0, 5, at, m, nullptr); }, "g5_set_xmeps2j: an array for 5"},
      {[&] { g5_set_xmeps2jMC(id, 2, 4, at + 20, m, bad.data()); },
       "softening of j-particle 3 is -0.5"},
      {[&] { g5_set_eps2_to_allMC(id, -0.5); }, "g5_set_eps2_to_all: the softening is -0.5"},
      {[&] { g5_set_eps_to_allMC(id, NAN); }, "g5_set_eps_to_all: the softening is nan"},
      {[&] { g5_set_eps_to_allMC(id, INFINITY); }, "the softening is inf"},
      {[&] { g5_set_eps2MC(id, 5, bad.data()); },
       "g5_set_eps2: the softening of i-particle 3 is -0.5"},
      {[&] { g5_set_eps2MC(id, 5, nullptr); }, "null pointer"},
      {[&] { g5_set_xeiMC(id, 5, at + 9, bad.data()); },
       "g5_set_xei: the softening of i-particle 3"},
      {[&] { g5_calculate_force_on_xeMC(id, at, bad.data(), rows(s.acc), s.pot.data(), 5); },
       "g5_calculate_force_on_xe: the softening of i-particle 3 is -0.5"},
  };
  std::vector<Row> targets = x;
  g5_set_xiMC(id, 5, rows(targets));
  for (const auto& [call, message] : calls) {
    forget_message();
    CHECK_THAT(messages_of(call), Catch::Contains(message));
    CHECK(s.pot == std::vector<double>(5, 7));
    Sums now(5);
    g5_runMC(id);
    g5_get_forceMC(id, 5, rows(now.acc), now.pot.data());
    check(now, right, 1e-13);
  }
  g5_closeMC(id);
}

TEST_CASE("g5: results that are not finite are an error that names the i-particle") {
  for_all_devices([](int id, double) {
    std::vector<Row> xj{{0, 0, 0}, {1, 0, 0}}, xi{{3, 0, 0}, {1 + 1e-3, 0, 0}, {1e-120, 0, 0}};
    double mass[] = {1, 1};
    g5_set_nMC(id, 2);
    g5_set_xmjMC(id, 0, 2, rows(xj), mass);
    Sums s(3);
    s.pot.assign(3, 7);
    const std::string text =
        messages_of([&] { g5_calculate_force_on_xMC(id, rows(xi), rows(s.acc), s.pot.data(), 3); });
    CHECK_THAT(text, Catch::Contains("i-particle 2 is not finite"));
    CHECK(s.pot == std::vector<double>(3, 7));
    forget_message();
    g5_closeMC(id);
  });
}
