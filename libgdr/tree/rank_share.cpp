#include "libgdr/tree/rank_share.hpp"

#include <numeric>
#include <vector>

#include "libgdr/ranks/gathered.hpp"
#include "libgdr/ranks/group_parts.hpp"

namespace gdr::tree {
namespace {

GroupParts parts_of(const RankGroup& ranks, std::span<const Group> groups) {
  std::vector<double> targets;
  for (const Group& g : groups) targets.push_back(static_cast<double>(g.count));
  return {ranks, targets};
}

}  // namespace

void RankShare::step(const std::string& name, const std::function<void()>& work) {
  collectively(&ranks_, name, work);
}

std::span<const Group> RankShare::own(std::span<const Group> groups) const {
  return parts_of(ranks_, groups).own(groups);
}

void RankShare::join(std::span<const Group> groups, void* results, std::size_t row_bytes,
                     std::size_t rows) {
  const std::vector<std::size_t> offsets = parts_of(ranks_, groups).rows(groups, rows);
  bytes_received += gather_items(ranks_, results, row_bytes, offsets);
}

double RankShare::add_pairs(double own) {
  own_pairs += own;
  std::vector<double> all(ranks_.size());
  ranks_.gather(&own, sizeof own, all.data());
  return std::accumulate(all.begin(), all.end(), 0.0);
}

}  // namespace gdr::tree
