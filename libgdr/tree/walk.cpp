#include "libgdr/tree/walk.hpp"

#include <cmath>
#include <numeric>

namespace gdr::tree {
namespace {

void append_range(std::vector<std::int32_t>& list, std::size_t first, std::size_t count) {
  const std::size_t before = list.size();
  list.resize(before + count);
  std::iota(list.begin() + static_cast<std::ptrdiff_t>(before), list.end(),
            static_cast<std::int32_t>(first));
}

/// The squares of the largest ratios of radius and distance for each kind of proxies.
std::array<double, max_kinds> square_ratios(const Hierarchy& h) {
  std::array<double, max_kinds> squares = {};
  const double degree = h.proxies.empty() ? 1 : h.proxies.back().degree;
  for (std::size_t k = 0; k < h.proxies.size(); ++k)
    squares[k] = std::pow(h.theta, 2 * (degree + 1) / (h.proxies[k].degree + 1));
  return squares;
}

/// The sources of the clusters in the stack.
void list_clusters(const Hierarchy& h, const Group& group, std::vector<std::int32_t>& list,
                   std::vector<std::uint32_t>& stack) {
  const std::array<double, max_kinds> squares = square_ratios(h);
  const std::span<const Cluster> clusters = h.tree->clusters();
  list.clear();
  while (!stack.empty()) {
    const std::uint32_t q = stack.back();
    stack.pop_back();
    const Cluster& c = clusters[q];
    const double d2 = group.box.distance2(h.moments[q].centre);
    const double r2 = h.moments[q].radius * h.moments[q].radius;
    const double soft2 = h.softening.most(q, group.softening), spread = h.softening.spread(q);
    const auto stands_for = [&](std::size_t k) {
      const Proxies& p = h.proxies[k];
      const double size2 = std::max(r2, p.degree > 1 ? soft2 : spread);
      return p.first[q] != Proxies::none && p.points < c.count && size2 < squares[k] * d2;
    };
    std::size_t kind = 0;
    while (kind < h.proxies.size() && !stands_for(kind)) ++kind;
    if (kind < h.proxies.size()) {
      append_range(list, h.proxies[kind].first[q], h.proxies[kind].points);
    } else if (c.children == 0 || h.proxies.empty()) {
      append_range(list, c.first, c.count);
    } else {
      for (std::uint32_t k = c.children; k-- > 0;) stack.push_back(c.child + k);
    }
  }
}

}  // namespace

void list_sources(const Hierarchy& h, const Group& group, std::vector<std::int32_t>& list,
                  std::vector<std::uint32_t>& stack) {
  stack.clear();
  if (group.begin != nullptr)
    stack.assign(group.begin->begin(), group.begin->end());
  else if (!h.tree->clusters().empty())
    stack.push_back(0);
  list_clusters(h, group, list, stack);
}

}  // namespace gdr::tree
