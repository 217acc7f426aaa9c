// The periodic directions of a box: images of particles, and the way of positions into the box.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gdr/box.hpp"

namespace gdr {

using Point = std::array<double, 3>;
/// How many times each edge of a lattice is added to a position.
using Shift = std::array<std::int32_t, 3>;

/// The lattice of a box: edges that span the same images as the vectors of its periodic directions,
/// but as short and as perpendicular to each other as any, so that few images have to be tried
/// however skewed the box is. In directions beyond its dimensions edges are 0.
class Lattice {
 public:
  /// No images.
  Lattice() = default;
  /// Throws Error (Input) for a periodic vector that is not finite, too short or too long for
  /// double precision, or (nearly) in the line or plane of the others.
  explicit Lattice(const std::optional<PeriodicBox>& box);

  /// Number of periodic directions.
  std::size_t dimensions() const noexcept { return dimensions_; }
  bool is_periodic() const noexcept { return dimensions_ > 0; }
  /// The distance of neighbouring planes of images.
  double height(std::size_t k) const noexcept { return height_[k]; }
  /// The sum of the edges' largest components.
  double size() const noexcept;

  /// The position in units of an edge.
  double fraction(std::size_t k, const Point& x) const noexcept {
    return x[0] * dual_[k][0] + x[1] * dual_[k][1] + x[2] * dual_[k][2];
  }
  Point in_edges(const Point& x) const noexcept {
    return {fraction(0, x), fraction(1, x), fraction(2, x)};
  }
  /// The sum of n edges.
  Point shift(const Point& n) const noexcept {
    Point s;
    for (std::size_t c = 0; c < 3; ++c)
      s[c] = n[0] * edge_[0][c] + n[1] * edge_[1][c] + n[2] * edge_[2][c];
    return s;
  }
  /// The position moved by a shift.
  Point moved(const Point& x, const Shift& by) const noexcept {
    const Point s =
        shift({static_cast<double>(by[0]), static_cast<double>(by[1]), static_cast<double>(by[2])});
    return {x[0] + s[0], x[1] + s[1], x[2] + s[2]};
  }
  /// The number n of edges that a place is away from its image x in the box; x becomes that image.
  /// Not below max_edges in size for places that are too far away.
  Point wrap(Point& x) const noexcept;
  /// The shift that makes a difference of positions short, and that difference. One that is too
  /// long stays so.
  Shift shorten(Point& difference) const noexcept;

  /// The sum of n edges in numbers of the box's vectors, 0 in directions that are not periodic.
  std::array<std::int64_t, 3> in_vectors(const Point& n) const noexcept;
  /// Whether the edges are not the box's vectors.
  bool is_reduced() const noexcept { return is_reduced_; }

  /// Most edges between the box and a particle: farther away, rounding would move it.
  static constexpr double max_edges = 1e9;

  friend bool operator==(const Lattice&, const Lattice&) = default;

 private:
  std::size_t dimensions_ = 0;
  std::array<Point, 3> edge_{}, dual_{};
  Point height_{1, 1, 1};
  std::array<std::array<std::int64_t, 3>, 3> in_vectors_{};  ///< each edge in the box's vectors
  bool is_reduced_ = false;
};

/// Throws Error (Input): position `number` of the array `name` is farther away from the box.
[[noreturn]] void refuse_far_position(const char* name, std::size_t number);

}  // namespace gdr
