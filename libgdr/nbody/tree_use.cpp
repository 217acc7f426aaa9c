#include "libgdr/nbody/tree_use.hpp"

#include <algorithm>

namespace gdr {

void TreeUse::add(const TreeReport& report, double elapsed) {
  ++calls;
  seconds += elapsed;
  if (report.method == TreeMethod::Direct) {
    ++direct_calls;
    return;
  }
  if (report.method == TreeMethod::Expansion) ++expansion_calls;
  const bool first = most_degree == 0;
  least_degree = first ? report.degree : std::min(least_degree, report.degree);
  most_degree = std::max(most_degree, report.degree);
  least_theta = first ? report.theta : std::min(least_theta, report.theta);
  most_theta = std::max(most_theta, report.theta);
  error = std::max(error, report.error);
  largest_error = std::max(largest_error, report.largest_error);
  samples = std::max(samples, report.samples);
  most_sources = std::max(most_sources, report.sources_per_target);
  build_seconds += report.build_seconds;
  choice_seconds += report.choice_seconds;
  expansion_seconds += report.expansion_seconds;
  list_seconds += report.list_seconds;
  force_seconds += report.force_seconds;
}

}  // namespace gdr
