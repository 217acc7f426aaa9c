// Proxies: designs are exact, and proxies have the moments of their clusters. The moments of the
// tests are sums with the standard library's Legendre polynomials.
#include <cmath>

#include "libgdr/tree/designs.hpp"
#include "libgdr/tree/sources.hpp"
#include "support/catch.hpp"
#include "tree/bodies.hpp"

using namespace tree_test;
using namespace gdr::tree;

namespace {

/// The sum of m r^l P_l of the angle with a direction: the moment of degree l that acts there.
double moment(std::span<const Source> some, const Point& centre, const Point& direction,
              unsigned l) {
  double sum = 0;
  for (const Source& s : some) {
    const Point d{s.x - centre[0], s.y - centre[1], s.z - centre[2]};
    const double r = std::hypot(d[0], d[1], d[2]);
    const double along = d[0] * direction[0] + d[1] * direction[1] + d[2] * direction[2];
    const double cosine = r > 0 ? std::clamp(along / r, -1.0, 1.0) : 1;
    sum += s.mass * std::pow(r, l) * std::legendre(l, cosine);
  }
  return sum;
}

const std::vector<Point> directions{{0, 0, 1}, {0.6, 0.8, 0}, {-0.48, 0.6, 0.64}};

}  // namespace

TEST_CASE("sums of harmonics over a spherical design vanish up to twice the degree") {
  const std::vector<std::size_t> sizes{12, 24, 36, 60, 84};
  for (unsigned degree = min_degree; degree <= largest_degree; ++degree) {
    const Design& design = design_for(degree);
    CHECK(design.size() == sizes[degree - min_degree]);
    CHECK(design.exact >= 2 * degree);
    for (unsigned l = 1; l <= 2 * degree; ++l) {
      // By the addition theorem, the sum of the squares of all harmonics' sums.
      double sum = 0;
      for (std::size_t i = 0; i < design.size(); ++i)
        for (std::size_t j = 0; j < design.size(); ++j) {
          double cosine = 0;
          for (const std::vector<double>& x : design.at) cosine += x[i] * x[j];
          sum += std::legendre(l, std::clamp(cosine, -1.0, 1.0));
        }
      CHECK(std::abs(sum) < 1e-11);
    }
  }
}

TEST_CASE("pseudo-particles have the multipole moments of their cluster") {
  for (const char* name : {"plummer", "charges"}) {
    const Bodies b = bodies_named(name, 2000);
    const Octree tree(b.size(), b.x.data(), 20, 2);
    std::vector<double> mass;
    for (const std::uint32_t i : tree.order()) mass.push_back(b.m[i]);
    const gdr::LineVector<Moments> moments = moments_of(tree, mass);
    for (unsigned degree = min_degree; degree <= largest_degree; ++degree) {
      gdr::LineVector<Source> sources = particles_of(tree, mass);
      const Proxies proxies = add_multipoles(tree, moments, degree, sources);
      double worst = 0;
      std::size_t found = 0;
      for (std::size_t q = 0; q < proxies.first.size(); ++q) {
        const Cluster& c = tree.clusters()[q];
        CHECK((proxies.first[q] != Proxies::none) == (c.count > proxies.points));
        if (proxies.first[q] == Proxies::none) continue;
        ++found;
        const auto particles = std::span(sources).subspan(c.first, c.count);
        const auto pseudo = std::span(sources).subspan(proxies.first[q], proxies.points);
        const Moments& of = moments[q];
        for (unsigned l = 0; l <= degree; ++l)
          for (const Point& direction : directions)
            worst = std::max(worst, std::abs(moment(particles, of.centre, direction, l) -
                                             moment(pseudo, of.centre, direction, l)) /
                                        (of.weight * std::pow(of.radius, l)));
      }
      CHECK(found > 5);
      CHECK(worst < 1e-13);
    }
  }
}

TEST_CASE("three pseudo-particles have the mass, the centre and the quadrupole of their cluster") {
  for (const char* name : {"plummer", "disc", "line", "cube", "few masses"}) {
    Bodies b = bodies_named(std::string(name) == "plummer" ? "plummer" : "cube", 2000);
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (std::string(name) == "disc") b.x[3 * k + 2] = 0.25;
      if (std::string(name) == "line") b.x[3 * k + 1] = b.x[3 * k + 2] = b.x[3 * k];
      if (std::string(name) == "few masses" && k % 5 != 0) b.m[k] = 0;
    }
    CAPTURE(name);
    const Octree tree(b.size(), b.x.data(), 20, 2);
    std::vector<double> mass;
    for (const std::uint32_t i : tree.order()) mass.push_back(b.m[i]);
    const gdr::LineVector<Moments> moments = moments_of(tree, mass);
    gdr::LineVector<Source> sources = particles_of(tree, mass);
    const Proxies proxies = add_quadrupoles(tree, moments, sources);
    CHECK(proxies.points == 3);
    double worst = 0, furthest = 0;
    std::size_t found = 0;
    for (std::size_t q = 0; q < proxies.first.size(); ++q) {
      const Cluster& c = tree.clusters()[q];
      CHECK((proxies.first[q] != Proxies::none) == (c.count > 3));
      if (proxies.first[q] == Proxies::none) continue;
      ++found;
      const auto particles = std::span(sources).subspan(c.first, c.count);
      const auto pseudo = std::span(sources).subspan(proxies.first[q], 3);
      const Moments& of = moments[q];
      for (unsigned l = 0; l <= 2; ++l)
        for (const Point& direction : directions)
          worst = std::max(worst, std::abs(moment(particles, of.centre, direction, l) -
                                           moment(pseudo, of.centre, direction, l)) -
                                      1e-7 * of.weight * std::pow(of.radius, l));
      for (const Source& s : pseudo) {
        CHECK(s.mass >= 0);
        furthest =
            std::max(furthest, std::sqrt(square_distance({s.x, s.y, s.z}, of.centre)) / of.radius);
      }
    }
    CHECK(found > 100);
    CHECK(worst <= 0);
    CHECK(furthest < 1.5);
  }
}

TEST_CASE("three pseudo-particles of particles without mass have none") {
  const std::vector<double> x{0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 1, 0, 4, 0, 2};
  const Octree tree(5, x.data(), 8, 1);
  const std::vector<double> none(5);
  gdr::LineVector<Source> sources = particles_of(tree, none);
  add_quadrupoles(tree, moments_of(tree, none), sources);
  CHECK(sources.size() == 8);
  for (const Source& s : std::span(sources).last(3)) {
    CHECK(s.mass == 0);
    CHECK(std::isfinite(s.x + s.y + s.z));
  }
}

TEST_CASE("the centre of a cluster is that of its masses, or lies in its box") {
  const std::vector<double> x{0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0};
  const Octree tree(4, x.data(), 8, 1);
  const auto centre = [&](const std::vector<double>& m) {
    return moments_of(tree, m)[0].centre[0];
  };
  CHECK(centre({1, 0, 0, 3}) == Approx(2.25));
  CHECK(centre({1, 0, 0, -1}) == Approx(1.5));
  CHECK(centre({0, 0, 0, 0}) == Approx(1.5));
  const Moments m = moments_of(tree, std::vector<double>{1, 0, 0, -1})[0];
  CHECK(m.mass == 0);
  CHECK(m.weight == 2);
  CHECK(m.radius == Approx(1.5));
}
