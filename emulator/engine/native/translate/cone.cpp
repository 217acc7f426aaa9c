#include "emulator/engine/native/translate/cone.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace gdr::native {

Cones::Cones(const Graph& graph, std::vector<bool> usable)
    : graph_(graph),
      usable_(std::move(usable)),
      first_user_(graph.size() + 1),
      search_of_(graph.size()) {
  for (const Node& node : graph.nodes())
    for (const Ref r : node.operands()) ++first_user_[node_of(r) + 1];
  std::partial_sum(first_user_.begin(), first_user_.end(), first_user_.begin());
  users_.resize(first_user_.back());
  std::vector<std::uint32_t> next(first_user_.begin(), first_user_.end() - 1);
  for (std::uint32_t n = 0; n < graph.size(); ++n)
    for (const Ref r : graph[ref_to(n)].operands()) users_[next[node_of(r)]++] = n;
}

std::span<const std::uint32_t> Cones::users(std::uint32_t node) const {
  return std::span(users_).subspan(first_user_[node], first_user_[node + 1] - first_user_[node]);
}

std::vector<std::uint32_t> Cones::cone_of(std::span<const Ref> numbers, std::size_t max_nodes) {
  ++search_;
  // Nodes by index, so that operands come first.
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> waiting;
  const auto add = [&](std::uint32_t n) {
    search_of_[n] = search_;
    for (const std::uint32_t user : users(n)) waiting.push(user);
  };
  for (const Ref x : numbers) add(node_of(x));
  const auto is_known = [&](Ref r) {
    return search_of_[node_of(r)] == search_ || graph_.is_constant(r);
  };
  std::vector<std::uint32_t> cone;
  while (!waiting.empty() && cone.size() < max_nodes) {
    const std::uint32_t n = waiting.top();
    waiting.pop();
    if (!usable_[n] || search_of_[n] == search_) continue;
    if (!std::ranges::all_of(graph_[ref_to(n)].operands(), is_known)) continue;
    add(n);
    cone.push_back(n);
  }
  return cone;
}

}  // namespace gdr::native
