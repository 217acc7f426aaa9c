// Gravity with trees, compared with direct sums.
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <thread>

#include "gdr/error.hpp"
#include "gdr/gdr.hpp"
#include "support/catch.hpp"
#include "support/text.hpp"
#include "tree/bodies.hpp"

using namespace gdr;
using namespace tree_test;
using gdr::test::contains;

namespace {

struct Sums {
  std::vector<double> acc, pot;
  TreeReport report = {};
  explicit Sums(std::size_t n) : acc(3 * n, -77), pot(n, -77) {}
};

Sums with_tree(const Bodies& b, double eps, const TreeOptions& options,
               const std::string& device_name = "native") {
  Device device = Device::open(device_name);
  Gravity gravity(device);
  Sums s(b.size());
  s.report = gravity.compute(b.size(), b.x, b.m, eps, s.acc, s.pot, options);
  return s;
}

Sums directly(const Bodies& b, double eps) {
  Device device = Device::open("native");
  Sums s(b.size());
  Gravity(device).compute(b.size(), b.x, b.m, eps, s.acc, s.pot);
  return s;
}

/// Sums in long doubles at all particles.
Sums oracle(const Bodies& b, double eps) {
  Sums s(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    long double a[3] = {}, pot = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      long double d[3], r2 = static_cast<long double>(eps) * eps;
      for (std::size_t k = 0; k < 3; ++k)
        d[k] = static_cast<long double>(b.x[3 * j + k]) - b.x[3 * i + k];
      for (const long double v : d) r2 += v * v;
      if (i == j || r2 == 0) continue;
      const long double weight = b.m[j] / std::sqrt(r2);
      pot -= weight;
      for (std::size_t k = 0; k < 3; ++k) a[k] += weight / r2 * d[k];
    }
    for (std::size_t k = 0; k < 3; ++k) s.acc[3 * i + k] = static_cast<double>(a[k]);
    s.pot[i] = static_cast<double>(pot);
  }
  return s;
}

/// The root mean square of the relative errors, as TreeOptions::accuracy defines it.
double rms_error(const Sums& got, const Sums& right) {
  const auto length = [](const double* a) { return std::hypot(a[0], a[1], a[2]); };
  const std::size_t n = right.pot.size();
  double all = 0, sum = 0;
  for (std::size_t i = 0; i < n; ++i) all += std::pow(length(&right.acc[3 * i]), 2);
  const double least = 1e-3 * std::sqrt(all / static_cast<double>(n));
  for (std::size_t i = 0; i < n; ++i) {
    double d[3];
    for (std::size_t k = 0; k < 3; ++k) d[k] = got.acc[3 * i + k] - right.acc[3 * i + k];
    if (length(d) > 0) sum += std::pow(length(d) / std::max(least, length(&right.acc[3 * i])), 2);
  }
  return std::sqrt(sum / static_cast<double>(n));
}

/// The largest error of a potential, relative to the largest potential.
double potential_error(const Sums& got, const Sums& right) {
  double largest = 0, error = 0;
  for (std::size_t i = 0; i < right.pot.size(); ++i) {
    largest = std::max(largest, std::abs(right.pot[i]));
    error = std::max(error, std::abs(got.pot[i] - right.pot[i]));
  }
  return error / largest;
}

TreeOptions accuracy(double value) {
  TreeOptions options;
  options.accuracy = value;
  return options;
}

TreeOptions fixed(double theta, TreeMethod method, unsigned degree = 0) {
  TreeOptions options;
  options.theta = theta;
  options.method = method;
  options.degree = degree;
  options.group_size = 32;
  return options;
}

}  // namespace

TEST_CASE("gravity with a tree is as accurate as asked for, in the sample and everywhere") {
  for (const char* name : {"plummer", "cube", "two clusters", "charges"}) {
    const Bodies b = bodies_named(name, 20'000);
    const Sums right = directly(b, 1e-3);
    for (const double wanted : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
      CAPTURE(name, wanted);
      TreeOptions options = accuracy(wanted);
      const bool expand = wanted < 5e-4 || std::string(name) == "charges";
      options.method = expand ? TreeMethod::Expansion : TreeMethod::Multipole;
      const Sums got = with_tree(b, 1e-3, options);
      CHECK(got.report.error <= wanted);
      CHECK(rms_error(got, right) <= wanted);
      CHECK(potential_error(got, right) <= 10 * wanted);
    }
  }
}

TEST_CASE("a choice computes few pairs beside those of its tree or of direct sums") {
  // Softening, or the accuracy, leaves most sources to pairs. A choice may cost up to 9 % of direct
  // sums that it ends in, and 5 % of them and 7 % of the saving of a tree (TreeOptions::calls). The
  // second sample of results has 128 targets.
  const std::size_t n = 20'000;
  const auto m = static_cast<double>(n);
  const double all = m * m;
  std::size_t direct = 0, trees = 0;
  for (const char* name : {"plummer", "cube", "two clusters"})
    for (const double eps : {0.0, 1e-2})
      for (const double wanted : {1e-2, 1e-3, 1e-4, 1e-5, 1e-8}) {
        CAPTURE(name, eps, wanted);
        const Bodies b = bodies_named(name, n);
        Device device = Device::open("native");
        Gravity gravity(device);
        Sums s(n);
        s.report = gravity.compute(n, b.x, b.m, eps, s.acc, s.pot, accuracy(wanted));
        const auto pairs = static_cast<double>(device.statistics().interactions);
        if (s.report.method == TreeMethod::Direct) {
          CHECK(pairs <= 1.09 * all);
          CHECK(s.report.sources_per_target == m);
          ++direct;
        } else {
          const double sums = m * s.report.sources_per_target;
          CHECK(pairs - sums - 128 * m <= 0.05 * all + 0.07 * (all - sums));
          ++trees;
        }
      }
  CHECK(direct > 0);
  CHECK(trees > 0);
}

TEST_CASE("trees agree with sums in long doubles for every method and degree") {
  for (const char* name : {"plummer", "charges"}) {
    const Bodies b = bodies_named(name, 1500);
    const Sums right = oracle(b, 1e-3);
    double before = 1;
    for (const unsigned degree : {1, 2, 3, 4, 5, 6}) {
      CAPTURE(name, degree);
      const TreeMethod method = degree == 1 ? TreeMethod::Monopole : TreeMethod::Multipole;
      const Sums got = with_tree(b, 1e-3, fixed(0.4, method, degree == 1 ? 0 : degree));
      CHECK(got.report.method == method);
      CHECK(got.report.degree == degree);
      const double error = rms_error(got, right);
      CHECK(error < before);
      CHECK(got.report.error < 3 * error + 1e-7);
      CHECK(error < 3 * got.report.error + 1e-7);
      before = error;
    }
    CHECK(before < 5e-4);
  }
}

TEST_CASE("expansions converge with their degree") {
  for (const char* name : {"plummer", "charges", "two clusters"}) {
    const Bodies b = bodies_named(name, 2000);
    const Sums right = oracle(b, 0);
    double before = 1;
    for (unsigned degree = 2; degree <= 16; degree += 2) {
      CAPTURE(name, degree);
      const Sums got = with_tree(b, 0, fixed(0.6, TreeMethod::Expansion, degree));
      CHECK(got.report.method == TreeMethod::Expansion);
      CHECK(got.report.degree == degree);
      CHECK(got.report.sources_per_target < 2000);
      const double error = rms_error(got, right);
      CHECK(error < std::max(before, 2e-8));
      CHECK(potential_error(got, right) < std::max(10 * error, 1e-8));
      before = error;
    }
    CHECK(before < 2e-6);
  }
}

TEST_CASE("expansions leave out clusters within the reach of a softening") {
  const Bodies b = plummer(20'000);
  for (const double eps : {1e-3, 1e-2, 0.1}) {
    const Sums right = directly(b, eps);
    for (const double wanted : {1e-4, 1e-5}) {
      TreeOptions options = accuracy(wanted);
      options.method = TreeMethod::Expansion;
      CAPTURE(eps, wanted);
      CHECK(rms_error(with_tree(b, eps, options), right) <= wanted);
    }
  }
}

TEST_CASE("a softening of 0.01 is no reason for direct sums at an accuracy of 1e-4") {
  // Distant clusters have the first order of their softening: without it, errors did not fall below
  // 1.3e-4 at any degree, and the choice ended in direct sums.
  const Bodies b = plummer(40'000);
  const Sums got = with_tree(b, 0.01, accuracy(1e-4));
  CHECK(got.report.method == TreeMethod::Expansion);
  CHECK(got.report.sources_per_target < 6000);
  CHECK(got.report.error_seconds > 0);
  CHECK(rms_error(got, directly(b, 0.01)) <= 1e-4);
}

TEST_CASE("charges that cancel take expansions at any accuracy") {
  const Bodies b = charges(40'000);
  const Sums got = with_tree(b, 0, accuracy(1e-2));
  CHECK(got.report.method == TreeMethod::Expansion);
  CHECK(rms_error(got, directly(b, 0)) <= 1e-2);
}

TEST_CASE("threads do not change the results of a tree") {
  const Bodies b = plummer(20'000);
  for (const double wanted : {1e-2, 1e-4}) {
    TreeOptions options = accuracy(wanted);
    options.method = wanted < 1e-3 ? TreeMethod::Expansion : TreeMethod::Multipole;
    const Sums one = with_tree(b, 1e-3, options, "native:threads=1");
    const Sums two = with_tree(b, 1e-3, options, "native:threads=2");
    CHECK(one.acc == two.acc);
    CHECK(one.pot == two.pot);
    CHECK(one.report.theta == two.report.theta);
    CHECK(one.report.theta > 0);
  }
}

TEST_CASE("a tree on the exact engines approximates their direct sums") {
  const Bodies b = plummer(300);
  const Sums right = oracle(b, 0.01);
  CHECK(rms_error(with_tree(b, 0.01, fixed(0.5, TreeMethod::Multipole, 2), "exact"), right) < 2e-2);
  CHECK(rms_error(with_tree(b, 0.01, fixed(0.5, TreeMethod::Multipole, 2),
                            "exact:chips=1,blocks=2,pes=3,boards=2"),
                  right) < 2e-2);
}

TEST_CASE("targets other than the sources feel all of them") {
  const Bodies b = plummer(12'000), at = cube(9001);
  Device device = Device::open("native");
  Gravity gravity(device);
  Sums right(at.size()), got(at.size());
  gravity.compute_on(at.size(), at.x, b.size(), b.x, b.m, 0.01, right.acc, right.pot);
  for (const double wanted : {1e-2, 1e-4}) {
    TreeOptions options = accuracy(wanted);
    options.method = wanted < 1e-3 ? TreeMethod::Expansion : TreeMethod::Monopole;
    got.report =
        gravity.compute_on(at.size(), at.x, b.size(), b.x, b.m, 0.01, got.acc, got.pot, options);
    CHECK(got.report.method == options.method);
    CHECK(rms_error(got, right) <= wanted);
    CHECK(potential_error(got, right) <= wanted);
  }
  // Targets at the places of sources, with the potential of the coincident source.
  Sums same(b.size()), tree(b.size());
  gravity.compute_on(b.size(), b.x, b.size(), b.x, b.m, 1e-3, same.acc, same.pot);
  gravity.compute_on(b.size(), b.x, b.size(), b.x, b.m, 1e-3, tree.acc, tree.pot,
                     fixed(0.3, TreeMethod::Monopole));
  CHECK(potential_error(tree, same) < 1e-3);
}

TEST_CASE("few particles and no particles are as without a tree") {
  for (const std::size_t n : {1, 2, 3, 17}) {
    const Bodies b = plummer(n);
    const Sums right = directly(b, 0.1);
    CHECK(with_tree(b, 0.1, accuracy(1e-2)).acc == right.acc);
    for (const TreeMethod method :
         {TreeMethod::Monopole, TreeMethod::Multipole, TreeMethod::Expansion})
      CHECK(rms_error(with_tree(b, 0.1, fixed(0.3, method)), right) < 0.1);
  }
  CHECK_THROWS_AS(with_tree(plummer(0), 0.1, accuracy(1e-2)), Error);
  Device device = Device::open("native");
  const Bodies at = plummer(5);
  Sums none(5);
  Gravity(device).compute_on(5, at.x, 0, nullptr, nullptr, 0.1, none.acc, none.pot, accuracy(0.1));
  CHECK(none.acc == std::vector<double>(15, 0));
}

TEST_CASE("many particles at one place do not act on themselves") {
  Bodies b = plummer(4000);
  for (std::size_t i = 0; i < 2500; ++i)
    for (std::size_t k = 0; k < 3; ++k) b.x[3 * i + k] = 1.5;
  for (const double eps : {0.0, 1e-3}) {
    const Sums right = directly(b, eps);
    for (const TreeMethod method :
         {TreeMethod::Monopole, TreeMethod::Multipole, TreeMethod::Expansion}) {
      const Sums got = with_tree(b, eps, fixed(0.4, method));
      CHECK(potential_error(got, right) < 1e-2);
      CHECK(rms_error(got, right) < 5e-2);
    }
  }
  const Bodies point{std::vector<double>(3 * 3000, 0.25), std::vector<double>(3000, 1)};
  const Sums got = with_tree(point, 0.5, accuracy(1e-3));
  CHECK(got.acc == std::vector<double>(9000, 0));
  CHECK(got.pot[7] == Approx(-2999 / 0.5));
  CHECK(with_tree(point, 0, accuracy(1e-3)).pot == std::vector<double>(3000, 0));
}

TEST_CASE("huge, tiny and zero numbers give the results of direct sums") {
  for (const double scale : {1e-100, 1e100, 1e140}) {
    Bodies b = plummer(3000);
    for (double& x : b.x) x *= scale;
    for (double& m : b.m) m *= scale;
    CAPTURE(scale);
    const Sums got = with_tree(b, 0, fixed(0.4, TreeMethod::Multipole, 2));
    CHECK(rms_error(got, directly(b, 0)) < 1e-2);
    CHECK(rms_error(with_tree(b, 0, fixed(0.6, TreeMethod::Expansion, 8)), directly(b, 0)) < 1e-3);
  }
  Bodies weightless = plummer(3000);
  weightless.m.assign(3000, 0);
  CHECK(with_tree(weightless, 0.1, fixed(0.5, TreeMethod::Multipole)).acc ==
        std::vector<double>(9000, 0));
  CHECK(with_tree(weightless, 0.1, fixed(0.5, TreeMethod::Expansion)).acc ==
        std::vector<double>(9000, 0));
  Bodies far = plummer(3000);
  far.x[5] = 1e160;
  const auto too_distant = Catch::Matchers::Contains("particle 1 is too distant");
  CHECK_THROWS_WITH(with_tree(far, 0.1, accuracy(1e-2)), too_distant);
  CHECK_THROWS_WITH(directly(far, 0.1), too_distant);
}

TEST_CASE("a softening larger than the system is no obstacle") {
  const Bodies b = plummer(12'000);
  for (const double eps : {0.3, 3.0, 100.0}) {
    const Sums got = with_tree(b, eps, accuracy(1e-3));
    CHECK(rms_error(got, directly(b, eps)) <= 1e-3);
  }
}

TEST_CASE("wrong arguments of a tree are refused with their names") {
  const Bodies b = plummer(3000);
  const auto message = [&](const TreeOptions& options, const Bodies& bodies) -> std::string {
    try {
      with_tree(bodies, 0.1, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  for (const double wrong : {0.0, -1.0, 1.0, std::numeric_limits<double>::quiet_NaN()})
    CHECK(contains(message(accuracy(wrong), b), "accuracy must be"));
  CHECK(
      contains(message(fixed(1.5, TreeMethod::Auto), b), "theta must be above 0 and at most 0.95"));
  CHECK(contains(message(fixed(-1e-9, TreeMethod::Auto), b), "it is -1e-09"));
  CHECK(contains(message(fixed(0.5, TreeMethod::Multipole, 7), b), "degree must be"));
  CHECK(contains(message(fixed(0.5, TreeMethod::Expansion, 17), b), "degree must be 2 to 16"));
  CHECK(contains(message(fixed(0.5, TreeMethod::Monopole, 3), b), "degree is that of multipoles"));
  Bodies bad = b;
  bad.x[301] = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(message(accuracy(1e-3), bad), "particle 100: coordinate y is not a number"));
  Device device = Device::open("native");
  Sums s(3000);
  CHECK_THROWS_AS(Gravity(device).compute(3000, b.x, b.m, -1, s.acc, s.pot, accuracy(1e-3)), Error);
  s.acc.resize(5);
  CHECK_THROWS_AS(Gravity(device).compute(3000, b.x, b.m, 1, s.acc, s.pot, accuracy(1e-3)), Error);
}

TEST_CASE("an interrupt cancels a sum with a tree") {
  const Bodies b = plummer(200'000);
  Device device = Device::open("native");
  Gravity gravity(device);
  Sums s(b.size());
  for (const TreeMethod method : {TreeMethod::Expansion, TreeMethod::Multipole}) {
    TreeOptions options = accuracy(1e-7);
    options.method = method;
    std::atomic<bool> done = false;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      while (!done) {
        device.interrupt();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
    CHECK_THROWS_AS(gravity.compute(b.size(), b.x, b.m, 0, s.acc, s.pot, options), Error);
    done = true;
    other.join();
  }
  // The object and the device remain usable.
  const Bodies few = plummer(2000);
  Sums got(few.size());
  gravity.compute(few.size(), few.x, few.m, 0.1, got.acc, got.pot, accuracy(1e-2));
  CHECK(rms_error(got, directly(few, 0.1)) < 1e-2);
}
