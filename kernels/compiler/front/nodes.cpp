#include "kernels/compiler/front/nodes.hpp"

#include <bit>
#include <utility>

namespace gdr::kc::front {
namespace {

constexpr bool commutes(Fn fn) noexcept {
  return fn == Fn::Add || fn == Fn::Mul || fn == Fn::Min || fn == Fn::Max || fn == Fn::Equal ||
         fn == Fn::And || fn == Fn::Or;
}

std::uint64_t hash_of(const Node& n) noexcept {
  std::uint64_t h = 0x9e3779b97f4a7c15ULL;
  const auto mix = [&h](std::uint64_t x) {
    h = (h ^ x) * 0xff51afd7ed558ccdULL;
    h ^= h >> 32;
  };
  mix((static_cast<std::uint64_t>(n.fn) << 8) | static_cast<std::uint64_t>(n.type));
  mix((static_cast<std::uint64_t>(static_cast<std::uint32_t>(n.a)) << 32) |
      static_cast<std::uint32_t>(n.b));
  mix((static_cast<std::uint64_t>(static_cast<std::uint32_t>(n.c)) << 32) |
      static_cast<std::uint32_t>(n.variable));
  mix(std::bit_cast<std::uint64_t>(n.number));
  mix(static_cast<std::uint64_t>(n.integer));
  return h;
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
  std::vector<NodeId> moved(graph.nodes.size(), no_node);
  const auto need = [&](NodeId id) {
    if (id != no_node) moved[static_cast<std::size_t>(id)] = 0;
  };
  for (const Contribution& c : graph.contributions) {
    for (const NodeId id : {c.value, c.payload, c.condition}) need(id);
  }
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (moved[i] == no_node) continue;
    for (const NodeId id : {graph.nodes[i].a, graph.nodes[i].b, graph.nodes[i].c}) need(id);
  }
  const auto renumber = [&](NodeId& id) {
    if (id != no_node) id = moved[static_cast<std::size_t>(id)];
  };
  std::size_t kept = 0;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (moved[i] == no_node) continue;
    moved[i] = static_cast<NodeId>(kept);
    Node n = graph.nodes[i];
    for (NodeId* id : {&n.a, &n.b, &n.c}) renumber(*id);
    graph.nodes[kept++] = n;
  }
  graph.nodes.resize(kept);
  for (Contribution& c : graph.contributions) {
    for (NodeId* id : {&c.value, &c.payload, &c.condition}) renumber(*id);
  }
}

}  // namespace gdr::kc::front
