// Small basis sets for the tests of quantum chemistry.
#pragma once

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "gdr/chemistry.hpp"

namespace gdr::test {

/// An s function of STO-3G that approximates a Slater function (W. J. Hehre, R. F. Stewart, J. A.
/// Pople, J. Chem. Phys. 51, 2657, 1969).
inline chemistry::Shell slater_function(double zeta, const std::array<double, 3>& centre) {
  std::vector<double> exponents{3.42525091, 0.62391373, 0.16885540};  // of zeta = 1.24
  std::vector<double> coefficients{0.15432897, 0.53532814, 0.44463454};
  double norm = 0;  // the integral of the square times r^2 is sqrt(pi)/4 p^(-3/2) for each product
  for (std::size_t k = 0; k < 3; ++k) {
    exponents[k] *= zeta * zeta / (1.24 * 1.24);
    coefficients[k] *= chemistry::radial_norm(0, exponents[k]);
    for (std::size_t i = 0; i <= k; ++i)
      norm += (i == k ? 1 : 2) * coefficients[i] * coefficients[k] *
              std::pow(exponents[i] + exponents[k], -1.5) * std::sqrt(M_PI) / 4;
  }
  for (double& coefficient : coefficients) coefficient /= std::sqrt(norm);
  return {centre, 0, true, exponents, coefficients};
}

/// H2 with a distance of 1.4 Bohr, and HeH+ as in A. Szabo and N. S. Ostlund, Modern Quantum
/// Chemistry, sections 3.5.2 and 3.5.3.
inline std::vector<chemistry::Shell> hydrogen() {
  return {slater_function(1.24, {0, 0, 0}), slater_function(1.24, {0, 0, 1.4})};
}
inline std::vector<chemistry::Shell> helium_hydride() {
  return {slater_function(2.0925, {0, 0, 0}), slater_function(1.24, {0, 0, 1.4632})};
}

/// Two or more centres with general contractions, s to d, spherical or not: some exponents appear
/// in two shells.
inline std::vector<chemistry::Shell> various_shells(bool spherical, std::size_t centres = 2) {
  std::vector<chemistry::Shell> shells;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-1.5, 1.5);
  for (std::size_t k = 0; k < centres; ++k) {
    const std::array<double, 3> centre{place(random), place(random), place(random)};
    shells.push_back({centre, 0, true, {9.1, 1.3, 0.4}, {3.0, 0.8, 0.3, -1.0, 0.5, 0.6}});
    shells.push_back({centre, 1, true, {1.3, 0.4}, {1.1, 0.5}});
    shells.push_back({centre, 2, spherical, {0.9}, {1.4}});
  }
  return shells;
}

/// A symmetric matrix of numbers between -1 and 1.
inline std::vector<double> random_density(std::size_t n, unsigned seed = 3) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::vector<double> density(n * n);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b <= a; ++b) density[a * n + b] = density[b * n + a] = value(random);
  return density;
}

/// Largest difference of two matrices.
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, std::abs(a[k] - b[k]));
  return most;
}

}  // namespace gdr::test
