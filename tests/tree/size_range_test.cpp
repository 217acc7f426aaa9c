// The range of the sizes of numbers, beside a plain loop.
#include "libgdr/tree/size_range.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "support/catch.hpp"

using gdr::tree::size_range;
using gdr::tree::SizeRange;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the range of sizes leaves out zeros and what is not a number") {
  const auto is = [](const std::vector<double>& numbers, double least, double most) {
    const SizeRange range = size_range(numbers, 2);
    return range.least == least && range.most == most;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), tiny = 5e-324;
  CHECK(is({}, infinite, 0));
  CHECK(is({0.0, -0.0, nan}, infinite, 0));
  CHECK(is({-3, nan, 2, 0}, 2, 3));
  CHECK(is({tiny, -infinite}, tiny, infinite));
}

TEST_CASE("the range of the sizes of many numbers is that of a plain loop") {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<double> numbers(100'001);
  for (double& x : numbers) x = std::exp(20 * normal(random)) * (random() % 2 == 0 ? 1 : -1);
  double least = infinite, most = 0;
  for (const double x : numbers) {
    least = std::min(least, std::abs(x));
    most = std::max(most, std::abs(x));
  }
  for (const unsigned threads : {1U, 3U}) {
    const SizeRange range = size_range(numbers, threads);
    CHECK(range.least == least);
    CHECK(range.most == most);
  }
}
