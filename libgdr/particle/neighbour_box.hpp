// A box with periodic directions, for searches among the images of its particles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gdr/box.hpp"

namespace gdr {

using Point = std::array<double, 3>;

/// Three edges, of which some are periods. The others are replaced by unit vectors perpendicular to
/// the periods, so that distances between planes of images are those of the periods alone.
class NeighbourBox {
 public:
  /// No periods.
  NeighbourBox() = default;
  /// Throws Error (Input) for edges of periodic directions that are no periods.
  explicit NeighbourBox(const std::optional<PeriodicBox>& box);

  bool is_periodic() const noexcept { return periodic_[0] || periodic_[1] || periodic_[2]; }
  bool is_periodic(std::size_t direction) const noexcept { return periodic_[direction]; }
  /// The distance of neighbouring planes of images.
  double height(std::size_t direction) const noexcept { return height_[direction]; }
  /// The sum of the edges' largest components.
  double size() const noexcept;

  /// Coordinates in edges, 0 in directions that are not periodic.
  Point in_edges(const Point& x) const noexcept;
  /// The sum of n edges.
  Point shift(const Point& n) const noexcept {
    Point s;
    for (std::size_t c = 0; c < 3; ++c)
      s[c] = n[0] * edge_[0][c] + n[1] * edge_[1][c] + n[2] * edge_[2][c];
    return s;
  }
  /// The number n of edges that a place is away from its image x in the box; x becomes that image.
  /// Not below max_edges in size for places that are too far away.
  Point wrap(Point& x) const noexcept;

  /// Most edges of the box between it and a particle.
  static constexpr double max_edges = 1e9;

 private:
  void complete();

  std::array<bool, 3> periodic_{};
  std::array<Point, 3> edge_{};        ///< 0 in directions that are not periodic
  std::array<Point, 3> reciprocal_{};  ///< of the edges' directions
  Point length_{1, 1, 1}, height_{1, 1, 1};
};

}  // namespace gdr
