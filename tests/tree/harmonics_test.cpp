// Expansions in solid harmonics, compared with sums over particles.
#include "libgdr/tree/harmonics.hpp"

#include <cmath>

#include "support/catch.hpp"
#include "tree/bodies.hpp"

using namespace tree_test;
using namespace gdr::tree;

namespace {

struct Columns {
  std::array<std::vector<double>, 4> at;  ///< x, y, z, mass
  ParticleArrays arrays(std::size_t first, std::size_t n) const {
    return {&at[0][first], &at[1][first], &at[2][first], &at[3][first], n};
  }
};

/// Particles within a cube of half the side around a centre.
Columns around(const Point& centre, double half, std::size_t n, unsigned seed) {
  const Bodies b = cube(n, seed);
  Columns c;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < 3; ++k)
      c.at[k].push_back(centre[k] + half * (2 * b.x[3 * i + k] - 1));
    c.at[3].push_back(i % 3 == 0 ? -0.4 : 1);
  }
  return c;
}

FieldPoint field_at(const Columns& sources, const Point& x) {
  FieldPoint f;
  for (std::size_t j = 0; j < sources.at[3].size(); ++j) {
    const double d[3] = {sources.at[0][j] - x[0], sources.at[1][j] - x[1], sources.at[2][j] - x[2]};
    const double r = std::hypot(d[0], d[1], d[2]), m = sources.at[3][j];
    f.potential += m / r;
    f.x += m * d[0] / (r * r * r);
    f.y += m * d[1] / (r * r * r);
    f.z += m * d[2] / (r * r * r);
  }
  return f;
}

}  // namespace

TEST_CASE("multipoles of parts are those of their particles") {
  for (const unsigned degree : {2U, 5U, 11U, 16U}) {
    const Columns c = around({10, -3, 2}, 0.7, 109, 3);
    const Frame whole{{10.1, -3, 2}, 1.4};
    std::vector<double> direct(expansion_size(degree)), shifted(expansion_size(degree));
    add_particles(degree, c.arrays(0, 109), whole, direct.data());
    std::vector<std::vector<double>> numbers;
    std::vector<Expansion> parts;
    for (std::size_t first = 0; first < 109; first += 11) {  // ten parts, more than lanes
      numbers.emplace_back(expansion_size(degree));
      const Frame frame{{c.at[0][first], c.at[1][first], c.at[2][first]}, 1.1};
      add_particles(degree, c.arrays(first, std::min<std::size_t>(11, 109 - first)), frame,
                    numbers.back().data());
      parts.push_back({frame, nullptr});
    }
    for (std::size_t k = 0; k < parts.size(); ++k) parts[k].numbers = numbers[k].data();
    add_multipoles_of(degree, parts, whole, shifted.data());
    for (std::size_t k = 0; k < direct.size(); ++k)
      CHECK(shifted[k] == Approx(direct[k]).margin(1e-12));
  }
}

TEST_CASE("distant clusters in turned axes have the expansions of sums over all terms") {
  const Frame node{{0.3, -0.2, 0.1}, 0.8};
  std::vector<Point> directions = {{0, 0, 1}, {0, 0, -1}, {1, 0, 0},    {-1, 0, 0},
                                   {0, 1, 0}, {0, -1, 0}, {1, 1e-9, 0}, {1e-9, 0, -1}};
  const Bodies random = cube(13, 4);
  for (std::size_t i = 0; i < 13; ++i) {
    Point d;
    for (std::size_t k = 0; k < 3; ++k) d[k] = random.x[3 * i + k] - 0.5;
    directions.push_back(d);
  }
  for (unsigned degree = 7; degree <= 16; ++degree)
    for (const unsigned of_multipoles : {2U, degree / 2, degree - 1, degree}) {
      CAPTURE(degree, of_multipoles);
      std::vector<std::vector<double>> numbers;
      std::vector<Expansion> clusters;
      for (std::size_t i = 0; i < directions.size(); ++i) {
        const double size = std::hypot(directions[i][0], directions[i][1], directions[i][2]);
        Frame frame{node.centre, 0.5 + 0.02 * static_cast<double>(i)};
        for (std::size_t k = 0; k < 3; ++k)
          frame.centre[k] -= (2 + 0.3 * static_cast<double>(i)) * directions[i][k] / size;
        const Columns c = around(frame.centre, 0.2, 9, static_cast<unsigned>(i));
        numbers.emplace_back(expansion_size(of_multipoles));
        add_particles(of_multipoles, c.arrays(0, 9), frame, numbers.back().data());
        clusters.push_back({frame, nullptr});
      }
      clusters.back().frame.radius = 0;  // particles at the centre
      for (std::size_t i = 0; i < clusters.size(); ++i) clusters[i].numbers = numbers[i].data();
      for (const std::size_t count :
           {std::size_t{0}, std::size_t{1}, std::size_t{8}, clusters.size()}) {
        const std::span<const Expansion> some = std::span(clusters).first(count);
        std::vector<double> turned(expansion_size(degree)), summed(turned.size());
        add_far_clusters(degree, of_multipoles, some, node, turned.data());
        add_far_clusters_by_sums(degree, of_multipoles, some, node, summed.data());
        std::size_t t = 0;
        for (unsigned n = 0; n <= degree; ++n) {
          double largest = 0, error = 0;
          for (unsigned m = 0; m < 2 * n + 2; ++m, ++t) {
            largest = std::max(largest, std::abs(summed[t]));
            error = std::max(error, std::abs(turned[t] - summed[t]));
          }
          CHECK(error <= 1e-12 * largest);
        }
      }
    }
}

TEST_CASE("local expansions converge to the field of distant clusters, in units of any size") {
  for (const double unit : {1.0, 1e-100, 1e100}) {
    const Columns sources = around({0.5 * unit, 0, 0}, 0.6 * unit, 50, 5);
    const Frame cluster{{0.5 * unit, 0, 0}, 1.1 * unit};
    const Frame node{{2.9 * unit, 3 * unit, -1 * unit}, 0.9 * unit};
    const Frame part{{3.1 * unit, 2.9 * unit, -1 * unit}, 0.5 * unit};
    const Columns at = around(part.centre, 0.25 * unit, 13, 6);
    double before = 1;
    for (unsigned degree = 2; degree <= 16; degree += 2) {
      CAPTURE(unit, degree);
      std::vector<double> m(expansion_size(degree)), local(m.size()), moved(m.size());
      add_particles(degree, sources.arrays(0, 50), cluster, m.data());
      const Expansion far{cluster, m.data()};
      add_far_clusters(degree, degree, {&far, 1}, node, local.data());
      add_local(degree, {node, local.data()}, degree, part, moved.data());
      std::vector<FieldPoint> fields(13);
      evaluate_local(degree, {part, moved.data()}, at.arrays(0, 13), fields.data());
      double error = 0;
      for (std::size_t i = 0; i < 13; ++i) {
        const FieldPoint right = field_at(sources, {at.at[0][i], at.at[1][i], at.at[2][i]});
        const double size = std::hypot(right.x, right.y, right.z);
        error = std::max(error, std::abs(fields[i].potential / right.potential - 1));
        error = std::max(
            error,
            std::hypot(fields[i].x - right.x, fields[i].y - right.y, fields[i].z - right.z) / size);
      }
      CHECK(error < 0.7 * before);
      before = error;
    }
    CHECK(before < 1e-7);
  }
}

TEST_CASE("a linear potential in a local expansion is that potential and its gradient") {
  const Frame frame{{1, -2, 0.5}, 0.75};
  const Columns c = around(frame.centre, 0.4, 11, 5);
  for (const unsigned degree : {2U, 9U}) {
    std::vector<double> local(expansion_size(degree));
    const FieldPoint field{3, 0.25, -1.5, 0.875};
    add_linear_field(field, frame, local.data());
    std::vector<FieldPoint> got(11);
    evaluate_local(degree, {frame, local.data()}, c.arrays(0, 11), got.data());
    for (std::size_t k = 0; k < 11; ++k) {
      const double d[3] = {c.at[0][k] - frame.centre[0], c.at[1][k] - frame.centre[1],
                           c.at[2][k] - frame.centre[2]};
      CHECK(got[k].potential ==
            Approx(field.potential + field.x * d[0] + field.y * d[1] + field.z * d[2]));
      CHECK(got[k].x == Approx(field.x));
      CHECK(got[k].y == Approx(field.y));
      CHECK(got[k].z == Approx(field.z));
    }
  }
}
