// Enumeration of the Hermite Gaussians of a pair: all t, u, v with t + u + v <= L.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace gdr::chemistry {

/// Largest angular momentum of a shell, of a pair of shells, and of two pairs together.
inline constexpr unsigned max_shell = 2, max_pair = 2 * max_shell, max_total = 2 * max_pair;

/// Number of t, u, v with t + u + v <= L: 1, 4, 10, 20, 35, ...
constexpr std::size_t hermite_count(unsigned l) {
  return std::size_t{l + 1} * (l + 2) * (l + 3) / 6;
}

/// Derivative order in each coordinate.
using Order = std::array<unsigned, 3>;

/// All orders up to a total of L, by increasing total, so that those of a smaller L come first.
const std::vector<Order>& hermite_orders();

/// Position of an order in `hermite_orders`.
std::size_t hermite_index(unsigned t, unsigned u, unsigned v);

}  // namespace gdr::chemistry
