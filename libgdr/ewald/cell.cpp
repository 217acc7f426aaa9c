#include "libgdr/ewald/cell.hpp"

#include <cmath>
#include <numbers>
#include <string>

#include "gdr/error.hpp"

namespace gdr::ewald {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;
/// Limits of the number of waves, and of the integers that are tried.
constexpr double max_waves = 1e8, max_tried = 1e10;
/// The least volume of a box relative to the product of its edges.
constexpr double min_volume = 1e-9;

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Subtracts multiples of vectors from others while that makes them shorter.
void shorten(std::array<Vector, 3>& v) {
  constexpr int max_rounds = 1000;  // each makes a vector shorter; roundings must not repeat it
  bool changed = true;
  for (int round = 0; changed && round < max_rounds; ++round) {
    changed = false;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) {
        const double ratio = a == b ? 0 : dot(v[a], v[b]) / dot(v[b], v[b]);
        if (!(std::abs(ratio) > 0.5 + 1e-9)) continue;
        for (std::size_t c = 0; c < 3; ++c) v[a][c] -= std::round(ratio) * v[b][c];
        changed = true;
      }
  }
}

void check_number(const Cell& cell, const Vector& most, double longest) {
  const double waves = cell.volume * std::pow(longest / two_pi, 3) * two_pi / 3;
  const double tried = (2 * most[0] + 1) * (2 * most[1] + 1) * (most[2] + 1);
  if (waves < max_waves && tried < max_tried) return;
  const std::string count = std::to_string(waves < max_waves ? tried : waves);
  throw Error(ErrorCategory::Input,
              "the sum needs " + count.substr(0, count.find('.')) +
                  " wave vectors; use a lower accuracy, or a smaller wave_cutoff or alpha");
}

}  // namespace

Cell::Cell(const PeriodicBox& box) : vectors(box.vectors) {
  for (std::size_t k = 0; k < 3; ++k)
    if (!box.periodic[k])
      throw Error(ErrorCategory::Input,
                  "direction " + std::to_string(k) +
                      " of the box is not periodic; an Ewald sum needs three periodic directions");
  const double signed_volume = dot(vectors[0], cross(vectors[1], vectors[2]));
  double product = 1;
  for (const Vector& v : vectors) product *= std::sqrt(dot(v, v));
  if (!(std::abs(signed_volume) > min_volume * product) || !std::isnormal(product))
    throw Error(ErrorCategory::Input,
                "the vectors of the box are zero, not finite, or in one plane; an Ewald sum needs "
                "a box with a volume");
  shorten(vectors);
  for (std::size_t k = 0; k < 3; ++k) {
    dual[k] = cross(vectors[(k + 1) % 3], vectors[(k + 2) % 3]);
    for (double& c : dual[k]) c /= signed_volume;
  }
  volume = std::abs(signed_volume);
}

Vector Cell::wave(const Vector& n) const {
  Vector k{};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t c = 0; c < 3; ++c) k[c] += two_pi * n[a] * dual[a][c];
  return k;
}

Columns fractions(const Cell& cell, std::span<const double> pos) {
  Columns columns;
  for (std::size_t a = 0; a < 3; ++a) {
    columns[a].resize(pos.size() / 3);
    for (std::size_t i = 0; i < columns[a].size(); ++i) {
      const double u = dot(cell.dual[a], {pos[3 * i], pos[3 * i + 1], pos[3 * i + 2]});
      columns[a][i] = u - std::floor(u);
    }
  }
  return columns;
}

Columns wave_rows(const Cell& cell, double longest) {
  Vector most{};
  for (std::size_t a = 0; a < 3; ++a)
    most[a] = std::floor(longest * std::sqrt(dot(cell.vectors[a], cell.vectors[a])) / two_pi);
  check_number(cell, most, longest);
  Columns out;
  const auto is_within = [&](double a, double b, double c) {
    const Vector k = cell.wave({a, b, c});
    return dot(k, k) <= longest * longest;
  };
  for (double a = 0; a <= most[0]; ++a)
    for (double b = a == 0 ? 0 : -most[1]; b <= most[1]; ++b) {
      double first = a == 0 && b == 0 ? 1 : -most[2], last = most[2];
      while (first <= last && !is_within(a, b, first)) ++first;
      while (first <= last && !is_within(a, b, last)) --last;
      for (; first <= last; first += row_length) {
        out[0].push_back(a);
        out[1].push_back(b);
        out[2].push_back(first);
      }
    }
  return out;
}

}  // namespace gdr::ewald
