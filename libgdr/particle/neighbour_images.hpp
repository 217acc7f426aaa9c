// Particles of a periodic box: their images in the box, and the other images by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libgdr/particle/lattice.hpp"
#include "libgdr/particle/neighbour_tree.hpp"

namespace gdr {

/// Particles moved to their images in a box; without periods views of those given.
class WrappedParticles {
 public:
  WrappedParticles(const char* name, std::span<const double> given, const Lattice& box);
  /// Coordinates in the box.
  std::span<const double> positions() const noexcept {
    return wrapped_.empty() ? given_ : wrapped_;
  }
  Point operator[](std::size_t k) const noexcept {
    const std::span<const double> x = positions();
    return {x[3 * k], x[3 * k + 1], x[3 * k + 2]};
  }
  Point given(std::size_t k) const noexcept {
    return {given_[3 * k], given_[3 * k + 1], given_[3 * k + 2]};
  }
  /// The number of edges from the image to the place given.
  Point edges(std::size_t k) const noexcept {
    if (edges_.empty()) return {};
    return {edges_[3 * k], edges_[3 * k + 1], edges_[3 * k + 2]};
  }
  /// Smallest and largest coordinates in edges, of images in the box.
  const Bounds& in_edges() const noexcept { return in_edges_; }
  /// The largest number of edges, and the largest coordinate given.
  double max_edges() const noexcept { return max_edges_; }
  double largest() const noexcept { return largest_; }

 private:
  std::span<const double> given_;
  std::vector<double> wrapped_, edges_;  // of whole numbers
  Bounds in_edges_{};
  double max_edges_ = 0, largest_ = 0;
};

/// Whole numbers k of edges by which the sources in the box are moved, in the order of their codes.
class ImageCodes {
 public:
  ImageCodes() = default;
  ImageCodes(const Point& first, const Point& count) : first_(first), count_(count) {}
  Point first() const noexcept { return first_; }
  double size() const noexcept { return count_[0] * count_[1] * count_[2]; }
  std::uint32_t code(const Point& k) const noexcept {
    return static_cast<std::uint32_t>(
        ((k[0] - first_[0]) * count_[1] + (k[1] - first_[1])) * count_[2] + (k[2] - first_[2]));
  }
  Point image(std::uint32_t code) const noexcept;

 private:
  Point first_{}, count_{1, 1, 1};
};

}  // namespace gdr
