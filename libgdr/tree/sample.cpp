#include "libgdr/tree/sample.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "emulator/host/divide_up.hpp"
#include "emulator/host/for_blocks.hpp"

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

/// Results that one thread adds before those of others are: sums do not depend on their number.
constexpr std::size_t rows_of_part = 1024;

/// value(part of the results) for all parts, in their order.
template <typename Value>
std::vector<double> of_parts(std::span<const ResultRow> results, unsigned threads,
                             const Value& value) {
  std::vector<double> values(divide_up(results.size(), rows_of_part));
  for_blocks(results.size(), rows_of_part, threads, [&](std::size_t first, std::size_t last) {
    values[first / rows_of_part] = value(results.subspan(first, last - first));
  });
  return values;
}

/// A thousandth of the root mean square of all accelerations, by which errors are divided at least.
double smallest_divisor(std::span<const ResultRow> results, unsigned threads) {
  double largest = 0, sum = 0;
  for (const double of_part : of_parts(results, threads, [](std::span<const ResultRow> part) {
         double most = 0;
         for (const ResultRow& row : part)
           most = std::max({most, std::abs(row.ax), std::abs(row.ay), std::abs(row.az)});
         return most;
       }))
    largest = std::max(largest, of_part);
  if (!(largest > 0)) return 0;
  for (const double of_part : of_parts(results, threads, [&](std::span<const ResultRow> part) {
         double squares = 0;
         for (const ResultRow& row : part) {
           const double x = row.ax / largest, y = row.ay / largest, z = row.az / largest;
           squares += x * x + y * y + z * z;
         }
         return squares;
       }))
    sum += of_part;
  return 1e-3 * largest * std::sqrt(sum / static_cast<double>(results.size()));
}

/// The square of the divisor's inverse, relative to that of the smallest one: at most 1.
double square_inverse(const ResultRow& row, double least) {
  const double x = row.ax / least, y = row.ay / least, z = row.az / least;
  return 1 / std::max(1.0, x * x + y * y + z * z);
}

struct Range {
  std::size_t first, end;
};

/// That of the ranges from `first` to `end` which has a place. A range is a group, or some
/// consecutive ones, if one has less than `size` places. `group` is one at or before `first`, and
/// becomes the last one of the range.
Range range_around(std::size_t place, std::size_t first, std::size_t end, std::size_t size,
                   std::span<const Group>::iterator& group) {
  while (group->first + group->count <= first) ++group;
  Range range{first, first};
  for (;; ++group) {
    range.end = std::min(end, group->first + group->count);
    if (range.end == end) return range;
    if (range.end - range.first < size) continue;
    // What is left must be large enough for another range.
    if (end - range.end < size) {
      range.end = end;
      return range;
    }
    if (place < range.end) return range;
    range.first = range.end;
  }
}

}  // namespace

std::size_t blocks_of_sample(std::size_t count, std::size_t each) {
  constexpr std::size_t fewest_blocks = 16;
  return divide_up(count, std::clamp<std::size_t>(count / fewest_blocks, 1, each));
}

SamplePlaces sample_places(std::span<const Group> groups, std::size_t count, std::size_t each) {
  const std::size_t n = groups.empty() ? 0 : groups.back().first + groups.back().count;
  SamplePlaces sample;
  if (n <= count) {
    for (std::size_t k = 0; k < n; ++k) sample.places.push_back(static_cast<std::uint32_t>(k));
    sample.blocks = n;
    return sample;
  }
  RandomNumbers random;
  sample.blocks = blocks_of_sample(count, each);
  sample.places.resize(count);
  auto group = groups.begin();
  for (std::size_t b = 0; b < sample.blocks; ++b) {
    const std::size_t begin = sample.begin(b), size = sample.begin(b + 1) - begin;
    // The block's part of all places, in which every place is drawn with the same probability.
    const std::size_t first = n * begin / count, end = n * (begin + size) / count;
    const Range range =
        range_around(first + random.next() % (end - first), first, end, size, group);
    // Parts of an equal length, in each of which the place at the same share is drawn.
    const std::size_t length = range.end - range.first, shift = random.next() % length;
    for (std::size_t k = 0; k < size; ++k)
      sample.places[begin + k] =
          static_cast<std::uint32_t>(range.first + (k * length + shift) / size);
  }
  return sample;
}

void BlockScatter::add(double mean, double share) {
  ++blocks_;
  mean_ += share * mean;
  shares_ += share * share;
  products_ += share * share * mean;
  squares_ += share * share * mean * mean;
}

double BlockScatter::square_error() const {
  if (blocks_ < 2) return mean_ * mean_;
  const double sum = squares_ - 2 * mean_ * products_ + mean_ * mean_ * shares_;
  const auto n = static_cast<double>(blocks_);
  return std::max(0.0, sum * n / (n - 1));
}

void Sample::sum_directly(const Octree& targets, const DirectSums& direct) {
  std::vector<std::uint32_t> numbers;
  for (const std::uint32_t place : at_.places) numbers.push_back(targets.order()[place]);
  acceleration_.resize(3 * at_.places.size());
  direct(numbers, acceleration_.data());
}

Sample::Sample(const Octree& targets, SamplePlaces places, const DirectSums& direct)
    : targets_(targets.size()), at_(std::move(places)) {
  sum_directly(targets, direct);
  double largest = 0, sum = 0;
  for (const double a : acceleration_) largest = std::max(largest, std::abs(a));
  if (largest == 0) return;
  for (const double a : acceleration_) sum += (a / largest) * (a / largest);
  least_ = 1e-3 * largest * std::sqrt(sum / static_cast<double>(at_.places.size()));
}

Sample::Sample(const Octree& targets, std::span<const ResultRow> results, std::size_t count,
               const DirectSums& direct)
    : targets_(results.size()), least_(smallest_divisor(results, targets.threads())) {
  if (least_ == 0) return;
  std::vector<double> sums = of_parts(results, targets.threads(), [&](auto part) {
    double weights = 0;
    for (const ResultRow& row : part) weights += square_inverse(row, least_);
    return weights;
  });
  for (std::size_t k = 1; k < sums.size(); ++k) sums[k] += sums[k - 1];
  // One out of each of `count` ranges with equal sums of weights.
  RandomNumbers random;
  const double range = sums.back() / static_cast<double>(count);
  for (std::size_t k = 0; k < count; ++k) {
    const double at =
        range * (static_cast<double>(k) + 0x1p-64 * static_cast<double>(random.next()));
    const auto part =
        static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end() - 1, at) - sums.begin());
    double rest = at - (part > 0 ? sums[part - 1] : 0);
    std::size_t place = part * rows_of_part;
    const std::size_t last = std::min(place + rows_of_part, results.size()) - 1;
    while (place < last && (rest -= square_inverse(results[place], least_)) >= 0) ++place;
    at_.places.push_back(static_cast<std::uint32_t>(place));
  }
  at_.blocks = count;
  weights_ = sums.back();
  sum_directly(targets, direct);
}

std::vector<ResultRow> Sample::rows_of(std::span<const ResultRow> results) const {
  std::vector<ResultRow> own;
  for (const std::uint32_t place : at_.places) own.push_back(results[place]);
  return own;
}

SampleError Sample::error_of(std::span<const ResultRow> own) const {
  SampleError error;
  if (at_.places.empty()) return error;
  const auto all = static_cast<double>(at_.places.size());
  double mean = 0;
  BlockScatter scatter;
  for (std::size_t b = 0; b < at_.blocks; ++b) {
    const std::size_t first = at_.begin(b), end = at_.begin(b + 1);
    double of_block = 0;
    for (std::size_t k = first; k < end; ++k) {
      const double* a = &acceleration_[3 * k];
      const double wrong = length(own[k].ax - a[0], own[k].ay - a[1], own[k].az - a[2]);
      if (wrong == 0) continue;
      const double relative = wrong / std::max(least_, length(a[0], a[1], a[2]));
      of_block += relative * relative / static_cast<double>(end - first);
      error.largest = std::max(error.largest, relative);
    }
    const double share = static_cast<double>(end - first) / all;
    mean += share * of_block;
    scatter.add(of_block, share);
  }
  error.rms = std::sqrt(mean);
  error.bound = is_whole() ? error.rms : std::sqrt(mean + 2 * std::sqrt(scatter.square_error()));
  return error;
}

SampleError Sample::error_with(const Sample& small, std::span<const ResultRow> results) const {
  SampleError error = error_of(rows_of(results));
  if (small.places().empty()) return error;
  const auto all = static_cast<double>(results.size());
  double mean = 0;
  for (const Sample* const sample : {this, &small})
    for (std::size_t k = 0; k < sample->places().size(); ++k) {
      const ResultRow& row = results[sample->places()[k]];
      const double* a = &sample->acceleration_[3 * k];
      const double wrong = length(row.ax - a[0], row.ay - a[1], row.az - a[2]);
      const double relative = wrong / std::max(small.least_, length(a[0], a[1], a[2]));
      const double drawn = static_cast<double>(places().size()) +
                           static_cast<double>(small.places().size()) * all *
                               (square_inverse(row, small.least_) / small.weights_);
      mean += relative * relative / drawn;
      error.largest = std::max(error.largest, relative);
    }
  error.rms = std::sqrt(mean);
  return error;
}

}  // namespace gdr::tree
