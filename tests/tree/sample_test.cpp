// The targets whose errors are measured.
#include "libgdr/tree/sample.hpp"

#include <algorithm>
#include <set>

#include "support/catch.hpp"

using namespace gdr::tree;

namespace {

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
  // The means of many samples of different sizes are that of all places.
  const std::size_t n = 30'000;
  double sum = 0, places = 0;
  for (std::size_t count = 200; count < 400; ++count)
    for (const std::uint32_t place : sample_places(groups_of(n, 200), count, 8).places) {
      sum += place;
      ++places;
    }
  CHECK(std::abs(sum / places / static_cast<double>(n) - 0.5) < 0.01);
}
