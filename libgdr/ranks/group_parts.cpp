#include "libgdr/ranks/group_parts.hpp"

#include <numeric>

namespace gdr {

std::vector<std::size_t> divide_by_weight(std::span<const double> weights, std::size_t parts) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::size_t> first;
  double before = 0;
  std::size_t k = 0;
  for (std::size_t p = 0; p < parts; ++p) {
    const double wanted = all * static_cast<double>(p) / static_cast<double>(parts);
    while (k < weights.size() && before + weights[k] / 2 < wanted) before += weights[k++];
    first.push_back(k);
  }
  first.push_back(weights.size());
  return first;
}

}  // namespace gdr
