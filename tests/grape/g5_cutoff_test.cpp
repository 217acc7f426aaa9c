// Cut-off tables of libg5.
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "grape/g5_calls.hpp"

using namespace grape_test;
using namespace grape_test::g5;

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
