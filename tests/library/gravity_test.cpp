// Gravity: comparison with sums in double, coincident particles, and invalid input.
#include <cmath>
#include <limits>
#include <string>

#include "gdr/error.hpp"
#include "library/kernels.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"

using namespace library_test;
using gdr::test::contains;

namespace {

struct Cluster {
  std::vector<double> x, m;
  std::size_t size() const { return m.size(); }
};

Cluster cluster(std::size_t n, unsigned seed = 1) {
  Cluster c{rough_values(3 * n, seed), rough_values(n, seed + 1)};
  for (double& m : c.m) m = (1.5 + m) / static_cast<double>(n);
  return c;
}

struct Forces {
  std::vector<double> acc, pot;
  explicit Forces(std::size_t n) : acc(3 * n, -77), pot(n, -77) {}
  friend bool operator==(const Forces&, const Forces&) = default;
};

/// Excludes pairs with i = j if targets are the sources (`same`).
Forces reference(const std::vector<double>& target, const Cluster& c, double eps, bool same) {
  Forces f(target.size() / 3);
  for (std::size_t i = 0; i < f.pot.size(); ++i) {
    double a[3] = {}, pot = 0;
    for (std::size_t j = 0; j < c.size(); ++j) {
      double d[3], r2 = eps * eps;
      for (std::size_t k = 0; k < 3; ++k) d[k] = c.x[3 * j + k] - target[3 * i + k];
      for (double v : d) r2 += v * v;
      if ((same && i == j) || r2 == 0) continue;
      const double weight = c.m[j] / std::sqrt(r2);
      pot -= weight;
      for (std::size_t k = 0; k < 3; ++k) a[k] += weight / r2 * d[k];
    }
    for (std::size_t k = 0; k < 3; ++k) f.acc[3 * i + k] = a[k];
    f.pot[i] = pot;
  }
  return f;
}

void check_near(const Forces& got, const Forces& expected) {
  for (std::size_t i = 0; i < got.pot.size(); ++i) {
    double error = 0, size = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      error += std::pow(got.acc[3 * i + k] - expected.acc[3 * i + k], 2);
      size += std::pow(expected.acc[3 * i + k], 2);
    }
    CHECK(std::sqrt(error) <= 1e-6 * std::sqrt(size));
    CHECK(got.pot[i] == Approx(expected.pot[i]).epsilon(1e-6));
  }
}

std::string input_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const gdr::Error& error) {
    CHECK(error.category() == gdr::ErrorCategory::Input);
    return error.what();
  }
  FAIL("no error");
  return {};
}

}  // namespace

TEST_CASE("gravity agrees with sums in double") {
  for (const char* name : {"exact", "exact:partition=targets", "exact:partition=sources",
                           "exact:chips=3,blocks=3,pes=5,boards=2"})
    for (std::size_t n : {1, 2, 3, 257}) {
      gdr::Device device = gdr::Device::open(name);
      gdr::Gravity gravity(device);
      const Cluster c = cluster(n);
      Forces f(n), on(2);
      gravity.compute(n, c.x.data(), c.m.data(), 0.02, f.acc.data(), f.pot.data());
      check_near(f, reference(c.x, c, 0.02, true));
      const std::vector<double> places = rough_values(6, 77);
      gravity.compute_on(2, places.data(), n, c.x.data(), c.m.data(), 0, on.acc.data(),
                         on.pot.data());
      check_near(on, reference(places, c, 0, false));
    }
}

TEST_CASE("coincident particles do not interact without softening") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Gravity gravity(device);
  Cluster c = cluster(6);
  for (std::size_t k = 0; k < 3; ++k) c.x[3 * 4 + k] = c.x[3 * 1 + k];
  for (double eps : {0.0, 0.1}) {
    Forces f(6);
    gravity.compute(6, c.x.data(), c.m.data(), eps, f.acc.data(), f.pot.data());
    check_near(f, reference(c.x, c, eps, true));
    // With softening, coincident sources contribute to the potential.
    Forces on(6);
    gravity.compute_on(6, c.x.data(), 6, c.x.data(), c.m.data(), eps, on.acc.data(), on.pot.data());
    check_near(on, reference(c.x, c, eps, false));
  }
}

TEST_CASE("result arrays may be null, and the others have the same bits") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Gravity gravity(device);
  const Cluster c = cluster(40);
  Forces f(40), again(40);
  gravity.compute(40, c.x.data(), c.m.data(), 0.1, f.acc.data(), f.pot.data());
  gravity.compute(40, c.x.data(), c.m.data(), 0.1, again.acc.data(), nullptr);
  gravity.compute(40, c.x.data(), c.m.data(), 0.1, nullptr, again.pot.data());
  CHECK(f == again);
}

TEST_CASE("no sources give zero forces, no targets no work, no particles an error") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Gravity gravity(device);
  const Cluster c = cluster(5);
  Forces f(5);
  gravity.compute_on(5, c.x.data(), 0, nullptr, nullptr, 0.1, f.acc.data(), f.pot.data());
  CHECK(f.acc == std::vector<double>(15, 0.0));
  CHECK(f.pot == std::vector<double>(5, 0.0));
  CHECK_NOTHROW(gravity.compute_on(0, nullptr, 5, c.x.data(), c.m.data(), 0.1, nullptr, nullptr));
  input_error([&] { gravity.compute(0, c.x.data(), c.m.data(), 0.1, f.acc.data(), f.pot.data()); });
}

TEST_CASE("invalid input is named in the error") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Gravity gravity(device);
  const Cluster good = cluster(9);
  Forces f(9);
  const auto compute = [&](const Cluster& c, double eps) {
    gravity.compute(9, c.x.data(), c.m.data(), eps, f.acc.data(), f.pot.data());
  };
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  Cluster bad = good;
  bad.x[3 * 4 + 1] = nan;
  CHECK(contains(input_error([&] { compute(bad, 0.1); }),
                 "particle 4: coordinate y is not a number"));
  bad = good;
  bad.x[3 * 8 + 2] = -inf;
  CHECK(contains(input_error([&] { compute(bad, 0.1); }), "particle 8: coordinate z is infinite"));
  bad = good;
  bad.m[3] = inf;
  CHECK(contains(input_error([&] { compute(bad, 0.1); }), "particle 3: its mass"));
  for (double eps : {-0.1, nan, inf, 1e200, 1e-200}) {
    INFO(eps);
    CHECK(contains(input_error([&] { compute(good, eps); }), "softening"));
  }
  CHECK(contains(input_error([&] { compute(good, -1e-9); }), "it is -1e-09"));
  compute(good, 0.1);
  check_near(f, reference(good.x, good, 0.1, true));
}

TEST_CASE("numbers of particles beyond the address space are a usage error") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Gravity gravity(device);
  const Cluster c = cluster(5);
  Forces f(5);
  const double *x = c.x.data(), *m = c.m.data();
  const auto message = [&](auto&& call) {
    try {
      call();
    } catch (const gdr::Error& e) {
      CHECK(e.category() == gdr::ErrorCategory::Usage);
      return std::string(e.what());
    }
    return std::string();
  };
  for (const std::size_t n : {std::size_t{1} << 61, std::size_t{1} << 62, ~std::size_t{0} / 24 + 1,
                              ~std::size_t{0} / 2}) {
    CHECK(message([&] { gravity.compute(n, x, m, 0.1, f.acc.data(), nullptr); }) ==
          std::to_string(n) + " particles are more than any memory holds");
    CHECK(message([&] { gravity.compute_on(n, x, 5, x, m, 0.1, f.acc.data(), nullptr); }) ==
          std::to_string(n) + " targets are more than any memory holds");
    CHECK(message([&] { gravity.compute_on(5, x, n, x, m, 0.1, f.acc.data(), nullptr); }) ==
          std::to_string(n) + " sources are more than any memory holds");
  }
  // Negative numbers of C and Fortran.
  for (const std::ptrdiff_t n : {std::ptrdiff_t{-1}, std::numeric_limits<std::ptrdiff_t>::min()})
    CHECK(message([&] {
            gravity.compute(static_cast<std::size_t>(n), x, m, 0.1, f.acc.data(), nullptr);
          }) == "the number of particles is " + std::to_string(n) + "; it must not be negative");
  // The object is usable after errors.
  gravity.compute(5, c.x.data(), c.m.data(), 0.1, f.acc.data(), f.pot.data());
  check_near(f, reference(c.x, c, 0.1, true));
}

TEST_CASE("a force beyond the range of the chip is an error that names the particle") {
  gdr::Device device = gdr::Device::open(tiny);
  gdr::Gravity gravity(device);
  Cluster c = cluster(4);
  Forces f(4);
  for (std::size_t k = 0; k < 3; ++k) c.x[k] = 0, c.x[6 + k] = k == 0 ? 1e-140 : 0;
  const std::string message = input_error(
      [&] { gravity.compute(4, c.x.data(), c.m.data(), 0, f.acc.data(), f.pot.data()); });
  CHECK(contains(message, "particle 0"));
}

TEST_CASE("particles whose squared distance underflows are an error, not a force of zero") {
  for (const std::string& name : {std::string(tiny), std::string("native")}) {
    gdr::Device device = gdr::Device::open(name);
    gdr::Gravity gravity(device);
    gdr::GravityJerk jerk(device);
    Cluster c = cluster(6);
    Forces f(6);
    const std::vector<double> v(18);
    std::vector<double> j(18);
    // Near the origin, and near a plane; 1e-154 squared is a number, but not a normal one.
    const auto near = [&](double x, double distance) {
      for (std::size_t k = 0; k < 3; ++k) c.x[3 * 2 + k] = c.x[3 * 5 + k] = k == 0 ? x : 0;
      c.x[3 * 5 + 1] = distance;
    };
    const auto compute = [&](double eps) {
      gravity.compute(6, c.x.data(), c.m.data(), eps, f.acc.data(), f.pot.data());
    };
    for (const double x : {0.0, 1.0})
      for (const double distance : {1e-200, -1e-154, 5e-324}) {
        INFO(name << ", " << x << ", " << distance);
        near(x, distance);
        const char* const text = "distance of particles 2 and 5 is so small";
        CHECK(contains(input_error([&] { compute(0); }), text));
        CHECK(contains(input_error([&] {
                         jerk.compute(6, c.x.data(), v.data(), c.m.data(), 0, f.acc.data(),
                                      j.data(), f.pot.data());
                       }),
                       text));
        CHECK(contains(input_error([&] {
                         gravity.compute_on(1, c.x.data() + 15, 5, c.x.data(), c.m.data(), 0,
                                            f.acc.data(), f.pot.data());
                       }),
                       "distance of target 0 and source 2 is so small"));
        // The lengths of the two particles are 0, those of the others are not.
        const std::vector<double> each{1, 1, 0, 1, 1, 0};
        CHECK(contains(
            input_error([&] { gravity.compute(6, c.x, c.m, gdr::Softening(each), f.acc, f.pot); }),
            text));
        compute(0.1);
        check_near(f, reference(c.x, c, 0.1, true));
      }
    // Coincident ones do not interact, and numbers that are far smaller than 1 are no error.
    near(1.0, 0);
    compute(0);
    for (double& x : c.x) x *= 1e-140;
    for (double& m : c.m) m *= 1e-200;
    CHECK_NOTHROW(compute(0));
    // An infinity has its own error.
    near(0, 1e-200);
    c.x[0] = std::numeric_limits<double>::quiet_NaN();
    CHECK(contains(input_error([&] { compute(0.1); }), "not a number"));
    input_error([&] { compute(0); });
  }
}

TEST_CASE("gravity gives the same bits for any number of threads and boards") {
  const Cluster c = cluster(700);
  const auto forces = [&](const std::string& name) {
    gdr::Device device = gdr::Device::open(name);
    gdr::Gravity gravity(device);
    Forces f(700);
    gravity.compute(700, c.x.data(), c.m.data(), 0.01, f.acc.data(), f.pot.data());
    return f;
  };
  const Forces expected = forces("exact:threads=1,chips=2,blocks=2,pes=4");
  CHECK(forces("exact:threads=3,chips=2,blocks=2,pes=4,boards=3") == expected);
  CHECK(forces("emulator:threads=1,chips=2,blocks=2,pes=4,engine=reference") == expected);
}
