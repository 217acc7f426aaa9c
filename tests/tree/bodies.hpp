// Distributions of particles for the tests of trees.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace tree_test {

struct Bodies {
  std::vector<double> x, m;  ///< triples; masses
  std::size_t size() const { return m.size(); }
};

/// Points in a Plummer sphere without its outermost particles, of masses 0.5 to 1.5 over n.
inline Bodies plummer(std::size_t n, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(1e-3, 1);
  std::normal_distribution<double> normal;
  Bodies b;
  for (std::size_t i = 0; i < n; ++i) {
    const double r = 1 / std::sqrt(std::pow(0.99 * uniform(random), -2.0 / 3) - 1);
    const double a = normal(random), c = normal(random), d = normal(random);
    const double scale = r / std::sqrt(a * a + c * c + d * d);
    for (const double v : {a, c, d}) b.x.push_back(v * scale);
    b.m.push_back((0.5 + uniform(random)) / static_cast<double>(n));
  }
  return b;
}

/// Points in the unit cube.
inline Bodies cube(std::size_t n, unsigned seed = 2) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  Bodies b;
  for (std::size_t k = 0; k < 3 * n; ++k) b.x.push_back(uniform(random));
  b.m.assign(n, 1 / static_cast<double>(n));
  return b;
}

/// Two Plummer spheres far from one another, one of them small.
inline Bodies two_clusters(std::size_t n) {
  Bodies b = plummer(n, 3);
  for (std::size_t i = 0; i < n / 3; ++i)
    for (std::size_t c = 0; c < 3; ++c) b.x[3 * i + c] = 1e-3 * b.x[3 * i + c] + (c == 0 ? 1e4 : 0);
  return b;
}

/// Points in the cube with charges of either sign, some of them zero.
inline Bodies charges(std::size_t n) {
  Bodies b = cube(n, 4);
  for (std::size_t i = 0; i < n; ++i) b.m[i] *= i % 7 == 0 ? 0 : i % 2 == 0 ? 1 : -1;
  return b;
}

inline Bodies bodies_named(const std::string& name, std::size_t n) {
  if (name == "plummer") return plummer(n);
  if (name == "cube") return cube(n);
  if (name == "two clusters") return two_clusters(n);
  return charges(n);
}

}  // namespace tree_test
