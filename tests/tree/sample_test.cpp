// The targets whose errors are measured.
#include "libgdr/tree/sample.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "libgdr/tree/kernel_sample.hpp"
#include "support/catch.hpp"
#include "tree/bodies.hpp"

using namespace gdr::tree;

namespace {

bool is_near(double value, double right) {
  return std::abs(value - right) <= 1e-12 * std::max(1.0, std::abs(right));
}

/// Groups of 1 to `largest` targets, of n in all.
std::vector<Group> groups_of(std::size_t n, std::size_t largest) {
  std::vector<Group> groups;
  for (std::size_t first = 0; first < n;) {
    const std::size_t count = std::min(n - first, 1 + (7 * groups.size()) % largest);
    groups.push_back({first, count});
    first += count;
  }
  return groups;
}

}  // namespace

TEST_CASE("a sample has the number of places that was asked for, in rising order") {
  for (const std::size_t n : {1, 50, 257, 1000, 20'011})
    for (const std::size_t count : {1, 7, 50, 256})
      for (const std::size_t each : {1, 8, 16}) {
        CAPTURE(n, count, each);
        const SamplePlaces sample = sample_places(groups_of(n, 90), count, each);
        CHECK(sample.places.size() == std::min(n, count));
        CHECK(std::ranges::is_sorted(sample.places));
        CHECK(sample.places.back() < n);
        if (n > 2 * count)
          CHECK(std::set(sample.places.begin(), sample.places.end()).size() ==
                sample.places.size());
        CHECK(sample.begin(sample.blocks) == sample.places.size());
      }
  CHECK(sample_places({}, 5, 2).places.empty());
}

TEST_CASE("a block of a sample has places of one group, if that has so many") {
  const std::vector<Group> groups = groups_of(100'000, 400);
  const SamplePlaces sample = sample_places(groups, 512, 8);
  CHECK(sample.blocks == 64);
  const auto group_of = [&](std::uint32_t place) {
    return std::ranges::upper_bound(groups, std::size_t{place}, {}, &Group::first) - groups.begin();
  };
  std::size_t whole = 0;
  for (std::size_t b = 0; b < sample.blocks; ++b) {
    const std::size_t first = sample.begin(b), last = sample.begin(b + 1) - 1;
    CHECK(last - first == 7);
    whole += group_of(sample.places[first]) == group_of(sample.places[last]) ? 1 : 0;
  }
  CHECK(whole >= 60);
}

TEST_CASE("every target is as likely to be in a sample as others") {
  // Many samples of different sizes, by the position within a group, and by the position within all
  // places. Groups of 3 are smaller than blocks, groups of 15 and 24 are not.
  for (const std::size_t size : {3, 15, 24})
    for (const std::size_t each : {4, 8}) {
      const std::size_t n = 600 * size;
      std::vector<Group> groups;
      for (std::size_t first = 0; first < n; first += size) groups.push_back({first, size});
      std::vector<double> in_group(size), in_all(10);
      double places = 0;
      for (std::size_t count = 128; count < 640; ++count)
        for (const std::uint32_t place : sample_places(groups, count, each).places) {
          ++in_group[place % size];
          ++in_all[10 * place / n];
          ++places;
        }
      for (std::size_t k = 0; k < size; ++k) {
        CAPTURE(size, each, k);
        // Samples of similar sizes share random numbers, and scatter together.
        CHECK(std::abs(in_group[k] * static_cast<double>(size) / places - 1) < 0.25);
      }
      for (const double number : in_all) CHECK(std::abs(number * 10 / places - 1) < 0.05);
    }
}

TEST_CASE("ends of groups of different sizes are as likely to be in a sample as their middle") {
  const std::size_t n = 20'000;
  const std::vector<Group> groups = groups_of(n, 40);
  double ends = 0, places = 0;
  for (std::size_t count = 128; count < 640; ++count)
    for (const std::uint32_t place : sample_places(groups, count, 8).places) {
      const auto next = std::ranges::upper_bound(groups, std::size_t{place}, {}, &Group::first);
      const Group& group = *(next - 1);
      ends += place == group.first || place + 1 == group.first + group.count ? 1 : 0;
      ++places;
    }
  double all = 0;
  for (const Group& group : groups) all += group.count > 1 ? 2 : 1;
  CHECK(std::abs(ends / places / (all / static_cast<double>(n)) - 1) < 0.1);
}

TEST_CASE("a sample has 16 blocks or one for each place, so that errors show their scatter") {
  CHECK(blocks_of_sample(256, 8) == 32);
  CHECK(blocks_of_sample(512, 8) == 64);
  CHECK(blocks_of_sample(512, 1) == 512);
  for (std::size_t count = 1; count < 300; ++count)
    for (const std::size_t each : {1, 4, 8}) {
      CAPTURE(count, each);
      const SamplePlaces sample = sample_places(groups_of(1000, 90), count, each);
      CHECK(sample.blocks == blocks_of_sample(count, each));
      CHECK(sample.blocks >= std::min<std::size_t>(count, 16));
      CHECK(sample.blocks <= count);
    }
}

TEST_CASE("the standard error of a mean is that of its blocks, and that of one block its mean") {
  const auto square_error = [](const std::vector<double>& means) {
    BlockScatter scatter;
    for (const double mean : means) scatter.add(mean, 1 / static_cast<double>(means.size()));
    return scatter.square_error();
  };
  CHECK(square_error({}) == 0);
  CHECK(square_error({3}) == 9);
  // Sums of squares of differences from the mean, divided by n (n - 1).
  CHECK(is_near(square_error({1, 3}), 2.0 / 2));
  CHECK(is_near(square_error({1, 2, 6}), 14.0 / 6));
  CHECK(is_near(square_error({5, 5, 5, 5}), 0));
  // Shares of a half and two quarters: (0.25 * 4 + 0.0625 * (16 + 0)) * 3 / 2, mean 4.
  BlockScatter scatter;
  scatter.add(2, 0.5);
  scatter.add(8, 0.25);
  scatter.add(4, 0.25);
  CHECK(is_near(scatter.square_error(), (0.25 * 4 + 0.0625 * 16) * 1.5));
}

TEST_CASE("the bound of a sample of few targets is above its error") {
  // Positions and masses do not matter: direct sums are 1, results have errors of 0.01 to 0.05.
  const tree_test::Bodies bodies = tree_test::plummer(1000);
  const Octree tree(bodies.size(), bodies.x.data(), 32, 1);
  const std::vector<Group> groups = tree.groups(64);
  const DirectSums direct = [](std::span<const std::uint32_t> targets, double* acceleration) {
    for (std::size_t k = 0; k < targets.size(); ++k) {
      acceleration[3 * k] = 1;
      acceleration[3 * k + 1] = acceleration[3 * k + 2] = 0;
    }
  };
  for (const std::size_t count : {1, 2, 7, 8, 9, 50}) {
    CAPTURE(count);
    const SamplePlaces places = sample_places(groups, count, 8);
    std::vector<ResultRow> rows;
    VariableColumn exact{"f"}, wrong{"f"};
    std::vector<std::uint32_t> numbers;
    double squares = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const double error = 0.01 * static_cast<double>(1 + k % 5);
      squares += error * error / static_cast<double>(count);
      rows.push_back({1 + error, 0, 0, 0});
      exact.numbers.push_back(1);
      wrong.numbers.push_back(1 + error);
      numbers.push_back(static_cast<std::uint32_t>(k));
    }
    const SampleError of_gravity = Sample(tree, places, direct).error_of(rows);
    CHECK(is_near(of_gravity.rms, std::sqrt(squares)));
    CHECK(of_gravity.bound > 1.01 * of_gravity.rms);
    const VectorError of_kernel =
        KernelSample(places, 1000, {exact}).error_of({"f", {0}}, {&wrong, 1}, numbers);
    CHECK(is_near(of_kernel.rms, std::sqrt(squares)));
    CHECK(is_near(of_kernel.bound, of_gravity.bound));
  }
}
