#include "kernels/compiler/front/nodes.hpp"

#include <bit>
#include <utility>

#include "emulator/host/hash.hpp"

namespace gdr::kc::front {
namespace {

constexpr bool commutes(Fn fn) noexcept {
  return fn == Fn::Add || fn == Fn::Mul || fn == Fn::Min || fn == Fn::Max || fn == Fn::Equal ||
         fn == Fn::And || fn == Fn::Or;
}

std::uint64_t hash_of(const Node& n) noexcept {
  return Hash()
      .add(n.fn)
      .add(n.type)
      .add(n.a)
      .add(n.b)
      .add(n.c)
      .add(n.variable)
      .add(n.number)
      .add(n.integer)
      .value();
}

/// Zeros of different signs differ.
bool same(const Node& x, const Node& y) noexcept {
  return x.fn == y.fn && x.type == y.type && x.a == y.a && x.b == y.b && x.c == y.c &&
         x.variable == y.variable && x.integer == y.integer &&
         std::bit_cast<std::uint64_t>(x.number) == std::bit_cast<std::uint64_t>(y.number);
}

}  // namespace

NodeId NodeTable::node(Node n) {
  if (commutes(n.fn) && n.a > n.b) std::swap(n.a, n.b);
  const std::uint64_t hash = hash_of(n);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (same((*this)[it->second], n)) return it->second;
  }
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(n);
  by_hash_.emplace(hash, id);
  return id;
}

NodeId NodeTable::make(Fn fn, Type type, const SourceRange& where, NodeId a, NodeId b, NodeId c) {
  Node n;
  n.fn = fn;
  n.type = type;
  n.a = a;
  n.b = b;
  n.c = c;
  n.where = where;
  return node(n);
}

void drop_unused_nodes(Graph& graph) {
  const std::vector<bool> needed = needed_nodes(graph);
  std::vector<NodeId> moved(graph.nodes.size(), no_node);
  const auto renumber = [&](NodeId& id) {
    if (id != no_node) id = moved[static_cast<std::size_t>(id)];
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!needed[i]) continue;
    moved[i] = static_cast<NodeId>(kept);
    Node n = graph.nodes[i];
    for (NodeId* id : {&n.a, &n.b, &n.c}) renumber(*id);
    graph.nodes[kept++] = n;
  }
  graph.nodes.resize(kept);
  for (Contribution& c : graph.contributions)
    for (NodeId* id : {&c.value, &c.payload, &c.condition}) renumber(*id);
}

}  // namespace gdr::kc::front
