#include "libgdr/particle/lattice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gdr/error.hpp"

namespace gdr {
namespace {

/// The least height of a box relative to its edge.
constexpr long double min_height = 1e-6L;
/// A vector is replaced by one whose square is less than this part of its own.
constexpr long double noticeably_shorter = 1 - 1e-9L;

/// Vectors with the digits and exponents that differences of many vectors need.
using Wide = std::array<long double, 3>;

long double dot3(const Wide& a, const Wide& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Wide scaled3(const Wide& a, long double factor) {
  return {a[0] * factor, a[1] * factor, a[2] * factor};
}
Wide sum3(const Wide& a, const Wide& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Wide cross3(const Wide& a, const Wide& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Wide unit3(const Wide& a) { return scaled3(a, 1 / std::sqrt(dot3(a, a))); }

/// The part of vector k that is perpendicular to the others.
Wide perpendicular(const std::array<Wide, 3>& v, std::size_t n, std::size_t k) {
  if (n == 1) return v[0];
  const Wide& other = v[(k + 1) % n];
  if (n == 2) return sum3(v[k], scaled3(unit3(other), -dot3(v[k], unit3(other))));
  const Wide normal = unit3(cross3(other, v[(k + 2) % n]));
  return scaled3(normal, dot3(v[k], normal));
}

[[noreturn]] void wrong_vector(std::size_t direction, const Point& v, const char* what) {
  throw Error(ErrorCategory::Input,
              fmt::format("box: vector {} is ({}, {}, {}), {}; a periodic direction needs a vector "
                          "of finite, positive length",
                          direction, v[0], v[1], v[2], what));
}

void check_vector(std::size_t direction, const Point& v) {
  const double length = std::hypot(v[0], v[1], v[2]);
  if (!(std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2])))
    wrong_vector(direction, v, "which is not finite");
  if (!(length > 0)) wrong_vector(direction, v, "of length zero");
  if (!std::isnormal(length) || !std::isfinite(4 * length))
    wrong_vector(direction, v, "too short or too long for double precision");
}

/// Vectors that span a lattice, as whole numbers of given ones, while they are reduced.
class Reduction {
 public:
  Reduction(const std::array<Wide, 3>& given, std::size_t n) : given_(given), now_(given), n_(n) {
    for (std::size_t k = 0; k < n; ++k) numbers_[k][k] = 1;
  }

  /// Makes vectors shorter by adding others to them, until none becomes shorter by any others.
  void run() {
    constexpr int max_rounds = 1000;
    for (int round = 0; round < max_rounds; ++round)
      if (!shorten_by_one() && !shorten_by_two()) return;
  }
  const std::array<Wide, 3>& vectors() const noexcept { return now_; }
  const std::array<std::array<std::int64_t, 3>, 3>& numbers() const noexcept { return numbers_; }

 private:
  bool shorten_by_one() {
    bool any = false;
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) {
        if (i == j) continue;
        const long double times = std::round(dot3(now_[i], now_[j]) / dot3(now_[j], now_[j]));
        if (times != 0 && replace(i, sum_of(i, j, -times))) any = true;
      }
    return any;
  }

  /// Of three vectors, the longest may become shorter by both others only.
  bool shorten_by_two() {
    if (n_ < 3) return false;
    std::size_t i = 0;
    for (std::size_t k = 1; k < 3; ++k)
      if (dot3(now_[k], now_[k]) > dot3(now_[i], now_[i])) i = k;
    const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
    for (const int a : {-1, 1})
      for (const int b : {-1, 1}) {
        std::array<std::int64_t, 3> numbers = sum_of(i, j, a);
        for (std::size_t c = 0; c < 3; ++c) numbers[c] += b * numbers_[k][c];
        if (replace(i, numbers)) return true;
      }
    return false;
  }

  std::array<std::int64_t, 3> sum_of(std::size_t i, std::size_t j, long double times) const {
    std::array<std::int64_t, 3> sum = numbers_[i];
    for (std::size_t c = 0; c < 3; ++c) sum[c] += static_cast<std::int64_t>(times) * numbers_[j][c];
    return sum;
  }

  bool replace(std::size_t i, const std::array<std::int64_t, 3>& numbers) {
    Wide v{};
    for (std::size_t k = 0; k < n_; ++k)
      v = sum3(v, scaled3(given_[k], static_cast<long double>(numbers[k])));
    if (!(dot3(v, v) < noticeably_shorter * dot3(now_[i], now_[i]))) return false;
    now_[i] = v;
    numbers_[i] = numbers;
    return true;
  }

  const std::array<Wide, 3> given_;
  std::array<Wide, 3> now_;
  std::array<std::array<std::int64_t, 3>, 3> numbers_{};
  std::size_t n_;
};

Point rounded(const Wide& v) {
  return {static_cast<double>(v[0]), static_cast<double>(v[1]), static_cast<double>(v[2])};
}

}  // namespace

Lattice::Lattice(const std::optional<PeriodicBox>& box) {
  if (!box) return;
  std::array<std::size_t, 3> direction{};
  std::array<Wide, 3> given{};
  for (std::size_t k = 0; k < 3; ++k) {
    if (!box->periodic[k]) continue;
    const Point& v = box->vectors[k];
    check_vector(k, v);
    direction[dimensions_] = k;
    given[dimensions_++] = {v[0], v[1], v[2]};
  }
  for (std::size_t k = 0; k < dimensions_; ++k) {
    const Wide up = perpendicular(given, dimensions_, k);
    if (!(dot3(up, up) > min_height * min_height * dot3(given[k], given[k])))
      wrong_vector(direction[k], box->vectors[direction[k]],
                   "which lies in the line or plane of the other vectors, or nearly so");
  }
  Reduction reduction(given, dimensions_);
  reduction.run();
  for (std::size_t k = 0; k < dimensions_; ++k) {
    const Wide up = perpendicular(reduction.vectors(), dimensions_, k);
    const long double height2 = dot3(up, up);
    edge_[k] = rounded(reduction.vectors()[k]);
    dual_[k] = rounded(scaled3(up, 1 / height2));
    height_[k] = static_cast<double>(std::sqrt(height2));
    for (std::size_t j = 0; j < dimensions_; ++j) {
      in_vectors_[k][direction[j]] = reduction.numbers()[k][j];
      is_reduced_ = is_reduced_ || reduction.numbers()[k][j] != (j == k ? 1 : 0);
    }
  }
}

double Lattice::size() const noexcept {
  double sum = 0;
  for (const Point& edge : edge_)
    sum += std::max({std::abs(edge[0]), std::abs(edge[1]), std::abs(edge[2])});
  return sum;
}

Point Lattice::wrap(Point& x) const noexcept {
  Point n{};
  const Point given = x;
  // Places far away are wrapped to a neighbouring box first.
  for (int time = 0; time < 3; ++time) {
    bool inside = true;
    for (std::size_t k = 0; k < dimensions_; ++k) {
      const double edges = std::floor(fraction(k, x));
      inside &= edges == 0;
      n[k] += edges;
    }
    if (inside) break;
    const Point s = shift(n);
    x = {given[0] - s[0], given[1] - s[1], given[2] - s[2]};
  }
  return n;
}

Shift Lattice::shorten(Point& difference) const noexcept {
  Shift by{};
  for (std::size_t k = 0; k < dimensions_; ++k) {
    const double edges = std::round(fraction(k, difference));
    if (std::abs(edges) < max_edges) by[k] = -static_cast<std::int32_t>(edges);
  }
  difference = moved(difference, by);
  return by;
}

std::array<std::int64_t, 3> Lattice::in_vectors(const Point& n) const noexcept {
  std::array<std::int64_t, 3> sum{};
  for (std::size_t k = 0; k < dimensions_; ++k)
    for (std::size_t c = 0; c < 3; ++c)
      sum[c] += static_cast<std::int64_t>(n[k]) * in_vectors_[k][c];
  return sum;
}

void refuse_far_position(const char* name, std::size_t number) {
  throw Error(ErrorCategory::Input,
              fmt::format("{}[{}] is more than {:.0e} boxes away from the box, so that rounding "
                          "would move it; put it into the box",
                          name, number, Lattice::max_edges));
}

}  // namespace gdr
