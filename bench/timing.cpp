#include "bench/timing.hpp"

namespace gdr::bench {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Comparison compare(const TimedWork& work, const TimedWork& other, unsigned repetitions) {
  constexpr double enough_seconds = 3;
  double least = 0, other_least = 0, spent = 0;
  for (unsigned k = 0; k < repetitions || spent < enough_seconds; ++k) {
    spent += seconds_of([&] {
      const double a = other.seconds(), b = work.seconds();
      other_least = k == 0 ? a : std::min(other_least, a);
      least = k == 0 ? b : std::min(least, b);
    });
  }
  return {other_least / least, least};
}

}  // namespace gdr::bench
