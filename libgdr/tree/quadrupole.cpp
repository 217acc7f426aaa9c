#include "libgdr/tree/quadrupole.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gdr::tree {
namespace {

using Matrix = std::array<Point, 3>;

Matrix matrix_of(const SecondMoments& m) {
  return {{{m.xx, m.xy, m.xz}, {m.xy, m.yy, m.yz}, {m.xz, m.yz, m.zz}}};
}

/// The smallest eigenvalue of a symmetric matrix without a trace, by the cosines of its
/// characteristic equation.
double smallest_eigenvalue(const Matrix& a) {
  double square = 0;
  for (const Point& row : a)
    for (const double value : row) square += value * value;
  if (square == 0) return 0;
  const double size = std::sqrt(square / 6);
  const double determinant = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[1][2]) -
                             a[0][1] * (a[0][1] * a[2][2] - a[1][2] * a[0][2]) +
                             a[0][2] * (a[0][1] * a[1][2] - a[1][1] * a[0][2]);
  const double cosine = std::clamp(determinant / (2 * size * size * size), -1.0, 1.0);
  return 2 * size * std::cos((std::acos(cosine) + 2 * std::numbers::pi) / 3);
}

/// The column of the largest element of the diagonal, such that its products with itself, which are
/// subtracted from the matrix, are this row and column.
Point take_column(Matrix& a) {
  std::size_t k = 0;
  for (const std::size_t c : {1, 2})
    if (a[c][c] > a[k][k]) k = c;
  if (!(a[k][k] > 0)) return {};
  const double root = std::sqrt(a[k][k]);
  Point column = {};
  for (std::size_t c = 0; c < 3; ++c) column[c] = a[c][k] / root;
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t c = 0; c < 3; ++c) a[r][c] -= column[r] * column[c];
  return column;
}

}  // namespace

std::array<Point, 3> three_points(const SecondMoments& moments) {
  Matrix a = matrix_of(moments);
  const double mean = (a[0][0] + a[1][1] + a[2][2]) / 3;
  for (std::size_t c = 0; c < 3; ++c) a[c][c] -= mean;
  const double smallest = smallest_eigenvalue(a);
  for (std::size_t c = 0; c < 3; ++c) a[c][c] -= smallest;
  // Now a = u u + v v. The means of the points are 2/3 (wide u) (wide u) + 2 (high v) (high v).
  const Point u = take_column(a), v = take_column(a);
  const double wide = std::sqrt(1.5), high = std::sqrt(0.5);
  std::array<Point, 3> points;
  for (std::size_t c = 0; c < 3; ++c) {
    points[0][c] = wide * u[c] - high * v[c];
    points[1][c] = -wide * u[c] - high * v[c];
    points[2][c] = 2 * high * v[c];
  }
  return points;
}

}  // namespace gdr::tree
