#include "libgdr/pairs/lattice.hpp"

#include <cmath>
#include <string>

#include "gdr/error.hpp"

namespace gdr {
namespace {

/// Positions have few digits left so many boxes away.
constexpr double most_boxes_away = 1e9;
/// The least height of a box relative to its edge.
constexpr double least_height = 1e-6;

double dot3(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Point cross3(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Point scaled3(const Point& a, double factor) {
  return {a[0] * factor, a[1] * factor, a[2] * factor};
}

/// The vector without its part along a unit vector.
Point without_part(const Point& a, const Point& unit) {
  const double along = dot3(a, unit);
  return {a[0] - along * unit[0], a[1] - along * unit[1], a[2] - along * unit[2]};
}
Point unit3(const Point& a) { return scaled3(a, 1 / std::sqrt(dot3(a, a))); }

/// The part of vector k that is perpendicular to the others.
Point perpendicular(const std::array<Point, 3>& v, std::size_t n, std::size_t k) {
  if (n == 1) return v[0];
  const Point& other = v[(k + 1) % n];
  if (n == 2) return without_part(v[k], unit3(other));
  const Point normal = unit3(cross3(other, v[(k + 2) % n]));
  return scaled3(normal, dot3(v[k], normal));
}

[[noreturn]] void wrong_vector(std::size_t direction, const Point& v, const char* what) {
  std::string text = "box vector " + std::to_string(direction) + " is (";
  for (std::size_t c = 0; c < 3; ++c) text += (c > 0 ? ", " : "") + std::to_string(v[c]);
  throw Error(ErrorCategory::Input, text + "), " + what);
}

}  // namespace

Lattice::Lattice(const PeriodicBox& box) {
  std::array<std::size_t, 3> direction{};
  for (std::size_t k = 0; k < 3; ++k) {
    if (!box.periodic[k]) continue;
    const Point& v = box.vectors[k];
    const double length2 = dot3(v, v);
    if (!std::isfinite(length2)) wrong_vector(k, v, "which is not finite, or too long");
    if (!(length2 > 1e-200))
      wrong_vector(k, v, "of length zero; a periodic direction needs a length");
    direction[dimensions_] = k;
    vectors_[dimensions_++] = v;
  }
  for (std::size_t k = 0; k < dimensions_; ++k) {
    const Point up = perpendicular(vectors_, dimensions_, k);
    const double height2 = dot3(up, up);
    const double least = least_height * least_height * dot3(vectors_[k], vectors_[k]);
    if (!(height2 > least))
      wrong_vector(direction[k], vectors_[k],
                   "which lies in the line or plane of the other vectors");
    dual_[k] = scaled3(up, 1 / height2);
    height_[k] = std::sqrt(height2);
  }
}

bool Lattice::find_shift(const Point& x, Shift& shift) const noexcept {
  shift = {};
  for (std::size_t k = 0; k < dimensions_; ++k) {
    const double boxes = std::floor(fraction(k, x));
    if (!(std::abs(boxes) < most_boxes_away)) return false;
    shift[k] = -static_cast<std::int32_t>(boxes);
  }
  return true;
}

Shift Lattice::shorten(Point& difference) const noexcept {
  Shift shift{};
  for (std::size_t k = 0; k < dimensions_; ++k) {
    const double boxes = std::round(fraction(k, difference));
    // A difference that is too long stays so.
    if (std::abs(boxes) < most_boxes_away) shift[k] = -static_cast<std::int32_t>(boxes);
  }
  difference = moved(difference, shift);
  return shift;
}

}  // namespace gdr
