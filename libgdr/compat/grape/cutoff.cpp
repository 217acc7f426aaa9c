#include "libgdr/compat/grape/cutoff.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <queue>
#include <string>

#include "gdr/error.hpp"
#include "libgdr/compat/grape/calls.hpp"

namespace gdr::compat::grape {
namespace {

using Polynomial = Tabulated::Polynomial;

constexpr std::size_t cell_count = 512;
constexpr std::size_t nodes = std::tuple_size_v<Polynomial>;
/// Samples of an interval, in increasing order: the nodes are those of odd numbers; between them,
/// and next to the ends, the polynomial is tested.
constexpr std::size_t samples = 2 * nodes + 1;
/// Distance of the first and last sample to the ends, at which the function may be singular.
constexpr double margin = 0x1p-30;
/// Number of halvings of a cell.
constexpr int deepest = 36;
/// Number of intervals after which no more are halved.
constexpr std::size_t max_intervals = 4096;
/// Largest difference between a polynomial and the function, relative to the function in the
/// interval; to its typical size, which the roundings of the user's function may be relative to;
/// and, if intervals cannot be halved, that which does not become linear.
constexpr double accuracy = 1e-13, rounding = 4e-15, tolerable = 1e-6;

double value(const Polynomial& a, double t) noexcept {
  const double t2 = t * t;
  return ((a[0] + a[1] * t) + (a[2] + a[3] * t) * t2) +
         ((a[4] + a[5] * t) + (a[6] + a[7] * t) * t2) * (t2 * t2);
}

/// Places of the samples: extrema and roots of Chebyshev's polynomial in turn.
const std::array<double, samples>& places() {
  static const std::array<double, samples> all = [] {
    std::array<double, samples> t{};
    for (std::size_t k = 0; k < samples; ++k)
      t[k] = -std::cos(std::numbers::pi * static_cast<double>(k) / (samples - 1));
    t.front() = -1 + margin;
    t.back() = 1 - margin;
    return t;
  }();
  return all;
}

/// The polynomial through the values at the nodes, which are near those of places(): by Newton's
/// divided differences, whose roundings are small for nodes in this order.
Polynomial interpolate(const std::array<double, samples>& t, const std::array<double, samples>& f) {
  constexpr std::array<std::size_t, nodes> order{1, 15, 7, 11, 3, 13, 5, 9};
  Polynomial difference{}, sum{};
  for (std::size_t n = 0; n < nodes; ++n) difference[n] = f[order[n]];
  for (std::size_t d = 1; d < nodes; ++d)
    for (std::size_t n = nodes - 1; n >= d; --n)
      difference[n] = (difference[n] - difference[n - 1]) / (t[order[n]] - t[order[n - d]]);
  for (std::size_t n = nodes; n-- > 0;) {
    for (std::size_t m = nodes - 1; m > 0; --m) sum[m] = sum[m - 1] - t[order[n]] * sum[m];
    sum[0] = difference[n] - t[order[n]] * sum[0];
  }
  return sum;
}

/// The function in an interval.
struct Interval {
  double begin = 0, end = 0;
  int depth = 0;
  std::array<double, samples> f{};
  Polynomial polynomial{};
  double error = 0, size = 0;  ///< largest difference of the polynomial; typical size of f

  double place(std::size_t k) const {
    return 0.5 * (begin + end) + 0.5 * (end - begin) * places()[k];
  }
  bool operator<(const Interval& other) const { return error < other.error; }
};

/// Nothing if the function is not finite at a sample, whose place is `where`. At the ends of the
/// whole range it need not be.
std::optional<Interval> sampled(const std::function<double(double)>& f, Interval i, bool first,
                                bool last, double& where) {
  for (std::size_t k = 0; k < samples; ++k) {
    i.f[k] = f(where = i.place(k));
    const bool is_end = (first && k == 0) || (last && k + 1 == samples);
    if (!std::isfinite(i.f[k]) && !is_end) return {};
  }
  // Where the samples are, in an interval that is small beside its distance from 0.
  std::array<double, samples> t{};
  for (std::size_t k = 0; k < samples; ++k)
    t[k] = (i.place(k) - 0.5 * (i.begin + i.end)) * (2 / (i.end - i.begin));
  i.polynomial = interpolate(t, i.f);
  std::array<double, samples> sizes{};
  for (std::size_t k = 0; k < samples; ++k) {
    if (!std::isfinite(i.f[k])) i.f[k] = value(i.polynomial, t[k]);
    i.error = std::max(i.error, std::abs(value(i.polynomial, t[k]) - i.f[k]));
    sizes[k] = std::abs(i.f[k]);
  }
  // The middle one: at a pole others are large.
  std::ranges::nth_element(sizes, sizes.begin() + samples / 2);
  i.size = sizes[samples / 2];
  return i;
}

/// The middle one of the sizes that are not 0.
double typical_size(const std::vector<Interval>& intervals) {
  std::vector<double> sizes;
  for (const Interval& i : intervals)
    if (i.size > 0) sizes.push_back(i.size);
  if (sizes.empty()) return 0;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::ranges::nth_element(sizes, middle);
  return *middle;
}

/// Halves the intervals with the largest errors until all are accurate or there are too many. The
/// result is in increasing order.
std::vector<Interval> refine(const std::function<double(double)>& f, std::vector<Interval> all) {
  const double end = all.back().end, typical = typical_size(all);
  const auto is_accurate = [&](const Interval& i) {
    return i.error <= accuracy * i.size + rounding * typical;
  };
  std::vector<Interval> done;
  std::priority_queue<Interval> rest;
  for (const Interval& i : all) is_accurate(i) ? done.push_back(i) : rest.push(i);
  double where = 0;
  while (!rest.empty()) {
    const Interval i = rest.top();
    rest.pop();
    const double middle = 0.5 * (i.begin + i.end);
    std::optional<Interval> left, right;
    if (i.depth < deepest && done.size() + rest.size() + 2 <= max_intervals) {
      left = sampled(f, {i.begin, middle, i.depth + 1}, i.begin == 0, false, where);
      right = sampled(f, {middle, i.end, i.depth + 1}, false, i.end == end, where);
    }
    if (!left || !right) {
      done.push_back(i);
      continue;
    }
    for (const Interval& half : {*left, *right})
      is_accurate(half) ? done.push_back(half) : rest.push(half);
  }
  std::ranges::sort(done, {}, &Interval::begin);
  return done;
}

}  // namespace

Tabulated::Tabulated(const std::function<double(double)>& f, double end)
    : end_(end), scale_(cell_count / end), cells_(cell_count), refined_(cell_count) {
  const auto bound = [&](std::size_t k) { return end * static_cast<double>(k) / cell_count; };
  std::vector<Interval> intervals;
  for (std::size_t k = 0; k < cell_count; ++k) {
    double where = 0;
    const std::optional<Interval> i =
        sampled(f, {bound(k), bound(k + 1)}, k == 0, k + 1 == cell_count, where);
    if (!i)
      throw Error(ErrorCategory::Input,
                  "the cut-off function is not finite at R = " + number_text(where));
    intervals.push_back(*i);
  }
  intervals = refine(f, std::move(intervals));
  std::size_t n = 0;
  for (std::size_t k = 0; k < cell_count; ++k) {
    const auto first = pieces_.size();
    const auto add = [&](double from, double to, const Polynomial& polynomial) {
      if (to > from) pieces_.push_back({from, 0.5 * (from + to), 2 / (to - from), polynomial});
    };
    for (; n < intervals.size() && intervals[n].begin < bound(k + 1); ++n) {
      const Interval& i = intervals[n];
      if (i.error <= tolerable * i.size) {
        add(i.begin, i.end, i.polynomial);
      } else if (i.depth == deepest) {
        add(i.begin, i.end, {i.f[0]});
      } else {
        add(i.begin, i.place(0), {i.f[0]});
        for (std::size_t s = 0; s + 1 < samples; ++s)
          add(i.place(s), i.place(s + 1),
              {0.5 * (i.f[s] + i.f[s + 1]), 0.5 * (i.f[s + 1] - i.f[s])});
        add(i.place(samples - 1), i.end, {i.f[samples - 1]});
      }
    }
    const std::size_t count = pieces_.size() - first;
    if (count == 1) {
      cells_[k] = pieces_.back().polynomial;
      pieces_.pop_back();
    } else {
      refined_[k] = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count)};
    }
  }
}

double Tabulated::refined(double r, const Refined& cell) const noexcept {
  const auto first = pieces_.begin() + cell.first;
  const auto next = std::upper_bound(first + 1, first + cell.count, r,
                                     [](double at, const Piece& p) { return at < p.begin; });
  const Piece& piece = *(next - 1);
  return value(piece.polynomial, (r - piece.centre) * piece.inverse);
}

double Tabulated::operator()(double r) const noexcept {
  if (!(r < end_)) return 0;
  const double at = r * scale_;
  const auto k = std::min(static_cast<std::size_t>(at), cell_count - 1);
  if (refined_[k].count > 0) return refined(r, refined_[k]);
  return value(cells_[k], 2 * (at - static_cast<double>(k)) - 1);
}

void add_with_cutoff(const Cutoff& cutoff, double eta, const CutoffParticles& sources,
                     const double x[3], double eps2, double acc[3], double& pot) {
  for (std::size_t j = 0; j < sources.x.size(); ++j) {
    const double d[] = {sources.x[j][0] - x[0], sources.x[j][1] - x[1], sources.x[j][2] - x[2]};
    const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + eps2 + sources.eps2[j];
    if (r2 == 0) continue;
    const double r = std::sqrt(r2), mass = sources.mass[j];
    const double f = mass / (r2 * r) * cutoff.force(r / eta);
    for (std::size_t k = 0; k < 3; ++k) acc[k] += f * d[k];
    pot += mass / r * cutoff.potential(r / eta);
  }
}

void add_by_law(const Tabulated& law, const CutoffParticles& sources, const double x[3],
                double acc[3]) {
  for (std::size_t j = 0; j < sources.x.size(); ++j) {
    const double d[] = {sources.x[j][0] - x[0], sources.x[j][1] - x[1], sources.x[j][2] - x[2]};
    const double f = sources.mass[j] * law(std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    for (std::size_t k = 0; k < 3; ++k) acc[k] += f * d[k];
  }
}

double s2_force_over_distance(double a, double r) noexcept {
  const double u = 2 * r / a;
  if (u >= 2) return 1 / (r * r * r);
  // Both parts are the force of the book over r = u a / 2.
  const double inner = 224 + u * u * (-224 + u * (70 + u * (48 - 21 * u)));
  if (u < 1) return 2 * inner / (35 * a * a * a);
  const double outer =
      12 / (u * u) - 224 + u * (896 + u * (-840 + u * (224 + u * (70 + u * (7 * u - 48)))));
  return 2 * outer / (35 * u * a * a * a);
}

}  // namespace gdr::compat::grape
