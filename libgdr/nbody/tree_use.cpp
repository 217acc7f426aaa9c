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
  const bool first = max_degree == 0;
  min_degree = first ? report.degree : std::min(min_degree, report.degree);
  max_degree = std::max(max_degree, report.degree);
  min_theta = first ? report.theta : std::min(min_theta, report.theta);
  max_theta = std::max(max_theta, report.theta);
  error = std::max(error, report.error);
  largest_error = std::max(largest_error, report.largest_error);
  samples = std::max(samples, report.samples);
  max_sources = std::max(max_sources, report.sources_per_target);
  build_seconds += report.build_seconds;
  choice_seconds += report.choice_seconds;
  expansion_seconds += report.expansion_seconds;
  list_seconds += report.list_seconds;
  force_seconds += report.force_seconds;
}

}  // namespace gdr
