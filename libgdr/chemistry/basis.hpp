// A basis as sites: all shells that share a centre and an exponent.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "gdr/chemistry.hpp"
#include "libgdr/chemistry/hermite.hpp"

namespace gdr::chemistry {

using Point = std::array<double, 3>;

/// The primitives of one exponent on one centre. Row f of `transform` has the coefficients of the
/// centre's function `functions[f]` for the monomials x^i y^j z^k exp(-exponent r^2), numbered by
/// `hermite_index`.
struct Site {
  double exponent;
  unsigned l;                          ///< largest angular momentum
  std::vector<std::size_t> functions;  ///< numbers within the centre
  std::vector<double> transform;       ///< functions x hermite_count(l)

  std::size_t monomials() const { return hermite_count(l); }
};

/// The functions and sites of one centre.
struct Centre {
  Point position;
  std::vector<std::size_t> functions;  ///< numbers within the basis
  std::vector<Site> sites;
};

/// Centres in the order of their first shell, sites by decreasing exponent.
std::vector<Centre> make_centres(std::span<const Shell> shells);

}  // namespace gdr::chemistry
