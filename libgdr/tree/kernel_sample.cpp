#include "libgdr/tree/kernel_sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace gdr::tree {
namespace {

/// The name with a star for the only letter x, y or z; itself if there is none, or are several.
std::string without_direction(const std::string& name) {
  const std::size_t at = name.find_first_of("xyz");
  if (at == std::string::npos || name.find_first_of("xyz", at + 1) != std::string::npos)
    return name;
  std::string out = name;
  out[at] = '*';
  return out;
}

/// What a result has in common with the other components of its vector: the array that it is an
/// element of, or its name.
struct VectorKey {
  std::string name;
  bool is_array = false;
  friend auto operator<=>(const VectorKey&, const VectorKey&) = default;
};

VectorKey key_of(const Kernel& kernel, std::size_t variable) {
  for (const KernelArray& a : kernel.arrays())
    if (a.count > 1 && variable >= a.first && variable < a.first + a.count) return {a.name, true};
  return {without_direction(kernel.variables()[variable].name)};
}

/// The length of a vector of results in a row.
double length_of(const ResultVector& vector, std::span<const VariableColumn> results,
                 std::size_t row) {
  double length = 0;
  for (const std::size_t member : vector.members)
    length = std::hypot(length, results[member].numbers[row]);
  return length;
}

}  // namespace

std::vector<ResultVector> result_vectors(const Kernel& kernel) {
  std::vector<ResultVector> vectors;
  std::map<VectorKey, std::size_t> known;
  std::size_t number = 0;
  for (std::size_t v = 0; v < kernel.variables().size(); ++v) {
    if (kernel.variables()[v].role != Role::Result) continue;
    const VectorKey key = key_of(kernel, v);
    const auto [place, added] = known.emplace(key, vectors.size());
    if (added) vectors.push_back({key.is_array ? key.name : kernel.variables()[v].name, {}});
    ResultVector& vector = vectors[place->second];
    if (!added && !key.is_array) vector.name += ", " + kernel.variables()[v].name;
    vector.members.push_back(number++);
  }
  return vectors;
}

KernelSample::KernelSample(SamplePlaces places, std::size_t targets,
                           std::vector<VariableColumn> direct)
    : targets_(targets),
      places_(std::move(places.places)),
      random_(places_.size()),
      blocks_(places.blocks),
      direct_(std::move(direct)) {}

void KernelSample::add(std::span<const std::uint32_t> places,
                       std::span<const VariableColumn> direct) {
  const auto is_added = [&](std::uint32_t place) {
    return std::ranges::find(places, place) != places.end();
  };
  std::size_t kept = 0;
  for (std::size_t k = 0; k < random_; ++k) {
    if (is_added(places_[k])) continue;
    places_[kept] = places_[k];
    for (VariableColumn& column : direct_) column.numbers[kept] = column.numbers[k];
    ++kept;
  }
  random_ = blocks_ = kept;
  places_.resize(kept);
  places_.insert(places_.end(), places.begin(), places.end());
  for (std::size_t c = 0; c < direct_.size(); ++c) {
    std::vector<double>& numbers = direct_[c].numbers;
    numbers.resize(kept);
    numbers.insert(numbers.end(), direct[c].numbers.begin(), direct[c].numbers.end());
  }
}

VectorError KernelSample::error_of(const ResultVector& vector,
                                   std::span<const VariableColumn> results,
                                   std::span<const std::uint32_t> rows) const {
  std::vector<double> size(places_.size()), wrong(places_.size());
  double unit = 0;
  for (std::size_t k = 0; k < places_.size(); ++k) {
    size[k] = length_of(vector, direct_, k);
    for (const std::size_t member : vector.members)
      wrong[k] =
          std::hypot(wrong[k], results[member].numbers[rows[k]] - direct_[member].numbers[k]);
    unit = std::max({unit, size[k], wrong[k]});
    if (std::isnan(wrong[k])) unit = wrong[k];
  }
  if (unit == 0) return {};
  // Means over all targets, of which the random ones stand for those that were not chosen.
  const auto all = static_cast<double>(targets_), random = static_cast<double>(random_);
  const double share = static_cast<double>(targets_ - (places_.size() - random_)) / all;
  double whole = 0, mean = 0, largest = 0;
  double block = 0;  // mean square
  BlockScatter scatter;
  std::size_t b = 0;
  const auto begin = [&](std::size_t number) { return random_ * number / blocks_; };
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const double weight = k < random_ ? share / random : 1 / all;
    const double w2 = (wrong[k] / unit) * (wrong[k] / unit);
    whole += weight * (size[k] / unit) * (size[k] / unit);
    mean += weight * w2;
    largest = std::max(largest, wrong[k] / unit);
    if (k >= random_) continue;
    const auto of_block = static_cast<double>(begin(b + 1) - begin(b));
    block += w2 / of_block;
    if (k + 1 < begin(b + 1)) continue;
    scatter.add(block, of_block / random);
    block = 0;
    ++b;
  }
  const double divisor = std::sqrt(whole > 0 ? whole : mean);
  const double square_error = is_whole() ? 0 : scatter.square_error();
  VectorError error;
  error.rms = std::sqrt(mean) / divisor;
  error.largest = largest / divisor;
  error.bound = std::sqrt(mean + 2 * share * std::sqrt(square_error)) / divisor;
  if (!std::isfinite(error.bound)) error.bound = std::numeric_limits<double>::infinity();
  return error;
}

double KernelSample::bound_of(std::span<const ResultVector> vectors,
                              std::span<const VariableColumn> results,
                              std::span<const std::uint32_t> rows) const {
  double bound = 0;
  for (const ResultVector& vector : vectors)
    bound = std::max(bound, error_of(vector, results, rows).bound);
  return bound;
}

std::vector<std::uint32_t> largest_results(std::span<const ResultVector> vectors,
                                           std::span<const VariableColumn> results,
                                           std::size_t targets, std::size_t count) {
  std::vector<std::uint32_t> places;
  std::vector<std::pair<double, std::uint32_t>> sizes(targets);
  count = std::min(count, targets);
  for (const ResultVector& vector : vectors) {
    for (std::size_t k = 0; k < targets; ++k) {
      const double length = length_of(vector, results, k);
      // Results that are not numbers come first.
      sizes[k] = {std::isnan(length) ? -std::numeric_limits<double>::infinity() : -length,
                  static_cast<std::uint32_t>(k)};
    }
    std::ranges::nth_element(sizes, sizes.begin() + static_cast<std::ptrdiff_t>(count));
    for (std::size_t k = 0; k < count; ++k) places.push_back(sizes[k].second);
  }
  std::ranges::sort(places);
  const auto repeated = std::ranges::unique(places);
  places.erase(repeated.begin(), repeated.end());
  return places;
}

}  // namespace gdr::tree
