// A cell of three periodic directions, and its wave vectors.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "gdr/box.hpp"

namespace gdr::ewald {

using Vector = std::array<double, 3>;

/// The vectors are as short as sums of those of the box can be made pair by pair: the same lattice,
/// with few images within a radius also for a box that is sheared far.
struct Cell {
  std::array<Vector, 3> vectors{}, dual{};  ///< dual[a] . vectors[b] = 1 for a = b, else 0
  double volume = 0;

  /// Throws Error (Input) for a direction without period, and for vectors that are not finite,
  /// zero, or in one plane.
  explicit Cell(const PeriodicBox& box);

  PeriodicBox box() const { return {vectors, {true, true, true}}; }
  /// The wave vector of integers: 2 pi (n_0 dual_0 + n_1 dual_1 + n_2 dual_2).
  Vector wave(const Vector& n) const;
};

/// Columns of three components.
using Columns = std::array<std::vector<double>, 3>;

/// Positions in units of the cell's vectors, from 0 to 1.
Columns fractions(const Cell& cell, std::span<const double> pos);

/// Wave vectors in rows of this many, whose last integers follow each other.
inline constexpr std::size_t row_length = 4;

/// The integers of the first wave vector of each row. The rows have all wave vectors up to a
/// length, without zero, one of each pair n, -n; the ends of rows may be longer ones. Throws Error
/// (Input) if there are too many.
Columns wave_rows(const Cell& cell, double longest);

}  // namespace gdr::ewald
