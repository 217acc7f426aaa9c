#include "libgdr/sph/lengths.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace gdr::sph {
namespace {

constexpr double margin = 1.1;
/// Lengths this much shorter than their limits make new ones.
constexpr double too_long = 1.5;
/// Number of particles of a cell that is not divided, and the least width of a cell relative to
/// that of all particles.
constexpr std::size_t cell_size = 32;
constexpr double min_width = 1e-3;

/// Cells that are halved at the median of their longest direction.
class Cells {
 public:
  Cells(std::span<const double> pos, std::span<const double> mass, double eta,
        std::vector<double>& h)
      : pos_(pos), mass_(mass), eta_(eta), h_(h), order_(mass.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::array<double, 3> low{}, high{};
    for (std::size_t c = 0; c < 3; ++c) {
      low[c] = std::numeric_limits<double>::infinity();
      high[c] = -low[c];
      for (std::size_t i = 0; i < mass.size(); ++i) {
        low[c] = std::min(low[c], pos[3 * i + c]);
        high[c] = std::max(high[c], pos[3 * i + c]);
      }
      width_ = std::max(width_, high[c] - low[c]);
    }
    if (!(width_ > 0)) width_ = 1;
    divide(0, order_.size(), low, high);
  }

 private:
  void divide(std::size_t first, std::size_t last, std::array<double, 3> low,
              std::array<double, 3> high) {
    std::size_t c = 0;
    for (std::size_t k = 1; k < 3; ++k)
      if (high[k] - low[k] > high[c] - low[c]) c = k;
    if (last - first <= cell_size || !(high[c] - low[c] > 0))
      return estimate(first, last, low, high);
    const std::size_t middle = (first + last) / 2;
    const auto at = [&](std::size_t place) {
      return order_.begin() + static_cast<std::ptrdiff_t>(place);
    };
    std::nth_element(at(first), at(middle), at(last), [&](std::size_t i, std::size_t j) {
      return pos_[3 * i + c] < pos_[3 * j + c];
    });
    const double plane = pos_[3 * order_[middle] + c];
    const double end = std::exchange(high[c], plane);
    divide(first, middle, low, high);
    high[c] = end;
    low[c] = plane;
    divide(middle, last, low, high);
  }

  void estimate(std::size_t first, std::size_t last, const std::array<double, 3>& low,
                const std::array<double, 3>& high) {
    double volume = 1, total = 0, widest = 0;
    for (std::size_t c = 0; c < 3; ++c) widest = std::max(widest, high[c] - low[c]);
    const double least = widest > 0 ? min_width * widest : width_;
    for (std::size_t c = 0; c < 3; ++c) volume *= std::max(high[c] - low[c], least);
    for (std::size_t k = first; k < last; ++k) total += mass_[order_[k]];
    for (std::size_t k = first; k < last; ++k)
      h_[order_[k]] = eta_ * std::cbrt(mass_[order_[k]] * (volume / total));
  }

  std::span<const double> pos_, mass_;
  double eta_, width_ = 0;
  std::vector<double>& h_;
  std::vector<std::size_t> order_;
};

}  // namespace

bool LengthLimits::serve(std::span<const double> h) const {
  if (h.size() != limits_.size()) return false;
  for (std::size_t i = 0; i < h.size(); ++i)
    if (!(h[i] <= limits_[i] && limits_[i] <= too_long * h[i])) return false;
  return true;
}

void LengthLimits::renew(std::span<const double> h) {
  limits_.assign(h.begin(), h.end());
  for (double& limit : limits_) limit *= margin;
}

std::vector<double> estimate_lengths(std::span<const double> pos, std::span<const double> mass,
                                     double eta) {
  std::vector<double> h(mass.size());
  if (!h.empty()) Cells(pos, mass, eta, h);
  return h;
}

}  // namespace gdr::sph
