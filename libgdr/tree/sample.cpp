#include "libgdr/tree/sample.hpp"

#include <cmath>

namespace gdr::tree {
namespace {

/// Random numbers, the same on every host (SplitMix64 of Steele, Lea and Flood 2014).
class RandomNumbers {
 public:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

 private:
  std::uint64_t state_ = 1;
};

double length(double x, double y, double z) { return std::hypot(x, y, z); }

}  // namespace

std::vector<std::uint32_t> sample_places(std::size_t n, std::size_t count) {
  count = std::min(count, n);
  RandomNumbers random;
  std::vector<std::uint32_t> places;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t first = n * k / count, size = n * (k + 1) / count - first;
    places.push_back(static_cast<std::uint32_t>(first + random.next() % size));
  }
  return places;
}

Sample::Sample(const Octree& targets, std::size_t count, const DirectSums& direct)
    : places_(sample_places(targets.size(), count)) {
  count = places_.size();
  std::vector<std::uint32_t> numbers;
  for (const std::uint32_t place : places_) numbers.push_back(targets.order()[place]);
  acceleration_.resize(3 * count);
  direct(numbers, acceleration_.data());
  double largest = 0, sum = 0;
  for (const double a : acceleration_) largest = std::max(largest, std::abs(a));
  if (largest == 0) return;
  for (const double a : acceleration_) sum += (a / largest) * (a / largest);
  least_ = 1e-3 * largest * std::sqrt(sum / static_cast<double>(count));
}

SampleError Sample::error_of(std::span<const ResultRow> results) const {
  SampleError error;
  double sum = 0, squares = 0;
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const ResultRow& row = results[places_[k]];
    const double* a = &acceleration_[3 * k];
    const double wrong = length(row.ax - a[0], row.ay - a[1], row.az - a[2]);
    if (wrong == 0) continue;
    const double relative = wrong / std::max(least_, length(a[0], a[1], a[2]));
    sum += relative * relative;
    squares += std::pow(relative, 4);
    error.largest = std::max(error.largest, relative);
  }
  if (places_.empty()) return error;
  const auto n = static_cast<double>(places_.size());
  const double mean = sum / n;
  error.rms = std::sqrt(mean);
  const bool all = places_.size() == results.size();
  const double variance = all ? 0 : std::max(0.0, squares / n - mean * mean);
  error.bound = std::sqrt(mean + 2 * std::sqrt(variance / n));
  return error;
}

}  // namespace gdr::tree
