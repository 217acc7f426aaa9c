// The periodic directions of a box: images, and the way of positions into the box.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gdr/pairs.hpp"

namespace gdr {

using Point = std::array<double, 3>;
/// How many times each periodic vector is added to a position.
using Shift = std::array<std::int32_t, 3>;

/// The lattice of a box: the vectors of its periodic directions, none to three.
class Lattice {
 public:
  Lattice() = default;
  /// Throws Error (Input) for a periodic vector that is not finite, of length zero, or (nearly) in
  /// the line or plane of the others.
  explicit Lattice(const PeriodicBox& box);

  /// Number of periodic directions.
  std::size_t dimensions() const noexcept { return dimensions_; }
  /// The position in units of a periodic vector.
  double fraction(std::size_t k, const Point& x) const noexcept {
    return x[0] * dual_[k][0] + x[1] * dual_[k][1] + x[2] * dual_[k][2];
  }
  /// The distance of two planes of the box.
  double height(std::size_t k) const noexcept { return height_[k]; }
  /// The position moved by a shift.
  Point moved(const Point& x, const Shift& shift) const noexcept {
    Point to = x;
    for (std::size_t k = 0; k < dimensions_; ++k)
      for (std::size_t c = 0; c < 3; ++c) to[c] += shift[k] * vectors_[k][c];
    return to;
  }
  /// Finds the shift of a position into the box; false for one that is so far away that its digits
  /// do not suffice.
  bool find_shift(const Point& x, Shift& shift) const noexcept;
  /// The shift that makes a difference of positions short, and that difference.
  Shift shorten(Point& difference) const noexcept;

  friend bool operator==(const Lattice&, const Lattice&) = default;

 private:
  std::size_t dimensions_ = 0;
  std::array<Point, 3> vectors_{}, dual_{};
  std::array<double, 3> height_{};
};

}  // namespace gdr
