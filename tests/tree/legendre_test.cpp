// Proxies on Gauss-Legendre points: sums of charges times a polynomial of the position are exact.
#include "libgdr/tree/legendre.hpp"

#include <cmath>
#include <functional>
#include <stdexcept>

#include "support/catch.hpp"
#include "tree/bodies.hpp"

using namespace tree_test;
using namespace gdr::tree;

namespace {

/// A tree with two charges and a variable that the second carries, as columns with proxies.
struct Charged {
  explicit Charged(const Bodies& b, unsigned degree, unsigned threads = 2)
      : tree(b.size(), b.x.data(), 20, threads), boxes(boxes_of(tree)) {
    for (std::size_t c = 0; c < 3; ++c) x[c].assign(tree.at(c).begin(), tree.at(c).end());
    for (const std::uint32_t i : tree.order()) {
      q.push_back(b.m[i]);
      m.push_back(i % 5 == 0 ? -1 : 0.5 + std::sin(i));
      v.push_back(std::cos(3 * i));
    }
    proxies = add_legendre(tree, 1, degree, {{&x[0], &x[1], &x[2]}, {&q, &m}, {{&v, 1}}});
  }

  using Law = std::function<double(std::size_t row)>;
  /// The sum of a law over the particles of a cluster, and over its proxies.
  std::pair<double, double> sums(std::size_t cluster, const Proxies& kind, const Law& law) const {
    const Cluster& c = tree.clusters()[cluster];
    double particles = 0, stand_ins = 0;
    for (std::size_t k = c.first; k < c.first + c.count; ++k) particles += law(k);
    for (std::size_t k = 0; k < kind.points; ++k) stand_ins += law(kind.first[cluster] + k);
    return {particles, stand_ins};
  }

  Octree tree;
  std::vector<Moments> boxes;
  std::array<NumberArray, 3> x;
  NumberArray q, m, v;
  std::vector<Proxies> proxies;
};

/// Particles in a plane, on a line, or at few places.
Bodies flattened(Bodies b, unsigned dimensions) {
  for (std::size_t i = 0; i < b.size(); ++i)
    for (std::size_t c = dimensions; c < 3; ++c) b.x[3 * i + c] = 0.25;
  return b;
}

}  // namespace

TEST_CASE("interpolation on Gauss-Legendre points is exact for polynomials up to its degree") {
  for (unsigned degree = 0; degree <= max_legendre_degree; ++degree) {
    const LegendrePoints points(degree);
    REQUIRE(points.size() == degree + 1);
    std::vector<double> value(points.size());
    for (const double t : {-1.0, -0.3, 0.0, 1e-310, 1e-17, 0.5, 0.999999999999, 1.0})
      for (unsigned power = 0; power <= degree; ++power) {
        points.values(t, value.data());
        double sum = 0;
        for (std::size_t k = 0; k < points.size(); ++k)
          sum += value[k] * std::pow(points.x()[k], power);
        CHECK(std::abs(sum - std::pow(t, power)) < 1e-14);
      }
    // Also at the points themselves, and between a point and its neighbouring number.
    for (std::size_t k = 0; k < points.size(); ++k)
      for (const double t : {points.x()[k], std::nextafter(points.x()[k], 0.0)}) {
        points.values(t, value.data());
        CHECK(std::abs(value[k] - 1) < 1e-14);
      }
  }
}

TEST_CASE("numbers of points are known up to the largest degree only") {
  const Bodies b = plummer(100);
  const Octree tree(b.size(), b.x.data(), 20, 1);
  CHECK(legendre_size(tree, max_legendre_degree) == 9 * 9 * 9);
  CHECK_THROWS_AS(legendre_size(tree, max_legendre_degree + 1), std::out_of_range);
}

TEST_CASE(
    "proxies on Gauss-Legendre points have the sums of their cluster for products of polynomials") {
  const unsigned degree = 3;
  for (const unsigned dimensions : {3U, 2U, 1U, 0U}) {
    const Charged all(flattened(charges(3000), dimensions), degree);
    REQUIRE(all.proxies.size() == degree);
    for (const Proxies& kind : all.proxies) {
      CHECK(kind.points == std::pow(kind.degree + 1, dimensions));
      for (std::size_t cluster = 0; cluster < all.tree.clusters().size();
           cluster += 1 + cluster / 3) {
        if (kind.first[cluster] == Proxies::none) {
          CHECK(all.tree.clusters()[cluster].count <= kind.points);
          continue;
        }
        const unsigned p = kind.degree;
        const Point at = all.boxes[cluster].centre;
        const auto monomial = [&](std::size_t k) {
          return std::pow(all.x[0][k] - at[0], p) * std::pow(all.x[1][k] - at[1], p - 1) *
                 (1 + std::pow(all.x[2][k] - at[2], p));
        };
        const double unit = 1e-12 * all.tree.clusters()[cluster].count;
        const auto close = [&](const Charged::Law& law) {
          const auto [particles, stand_ins] = all.sums(cluster, kind, law);
          CHECK(std::abs(particles - stand_ins) < unit);
        };
        close([&](std::size_t k) { return all.q[k] * monomial(k); });
        close([&](std::size_t k) { return all.m[k] * monomial(k); });
        close([&](std::size_t k) { return all.m[k] * all.v[k] * monomial(k); });
        close([&](std::size_t k) { return all.q[k]; });
      }
    }
  }
}

TEST_CASE("a variable whose charges cancel has quotients of moderate size") {
  // Two particles at each place, whose charges cancel, but not the products with the variable.
  Bodies b = cube(2000);
  for (std::size_t k = 1; k < b.size(); k += 2)
    for (std::size_t c = 0; c < 3; ++c) b.x[3 * k + c] = b.x[3 * (k - 1) + c];
  const Octree tree(b.size(), b.x.data(), 20, 1);
  std::array<NumberArray, 3> x;
  for (std::size_t c = 0; c < 3; ++c) x[c].assign(tree.at(c).begin(), tree.at(c).end());
  NumberArray q;
  for (const std::uint32_t number : tree.order()) q.push_back(number % 2 == 0 ? 1 : -1);
  NumberArray v = q;
  const std::vector<Proxies> kinds =
      add_legendre(tree, 2, 3, {{&x[0], &x[1], &x[2]}, {&q}, {{&v, 0}}});
  REQUIRE(q.size() > tree.size());
  double momentum = 0, largest = 0;
  for (std::size_t k = kinds[1].first[0]; k < kinds[1].first[0] + kinds[1].points; ++k)
    momentum += q[k] * v[k];
  for (const double a : v) largest = std::max(largest, std::abs(a));
  CHECK(std::abs(momentum - 2000) < 1e-6);
  CHECK(largest <= 0x1p40);
}

TEST_CASE("proxies lie within the box of their cluster, and do not depend on threads") {
  const Bodies b = plummer(5000);
  const Charged one(b, 4, 1), two(b, 4, 3);
  CHECK(one.x == two.x);
  CHECK(one.q == two.q);
  CHECK(one.v == two.v);
  for (const Proxies& kind : one.proxies)
    for (std::size_t q = 0; q < kind.first.size(); ++q)
      if (kind.first[q] != Proxies::none)
        for (std::size_t c = 0; c < 3; ++c) {
          const Box& box = one.tree.clusters()[q].box;
          const double rounding = 1e-15 * std::max(std::abs(box.low[c]), std::abs(box.high[c]));
          for (std::size_t k = kind.first[q]; k < kind.first[q] + kind.points; ++k) {
            CHECK(one.x[c][k] >= box.low[c] - rounding);
            CHECK(one.x[c][k] <= box.high[c] + rounding);
          }
        }
}
