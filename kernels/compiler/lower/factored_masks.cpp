// Factored masks: contributions with a common factor and a common condition are suppressed by one
// predicated operation that zeroes the factor.
#include <algorithm>
#include <map>
#include <vector>

#include "kernels/compiler/lower/lower.hpp"

namespace gdr::kc {
namespace {

/// What is known of a node if the factor is zero: it is zero, it is finite (sums and products of
/// inputs), or nothing (for example a root).
enum class Known : std::uint8_t { Zero, Finite, Anything };

Known combine(const Node& n, Known a, Known b, Known c) {
  if (a == Known::Anything || b == Known::Anything || c == Known::Anything) return Known::Anything;
  switch (n.fn) {
    case Fn::Mul:
      return a == Known::Zero || b == Known::Zero ? Known::Zero : Known::Finite;
    case Fn::Add:
    case Fn::Sub:
    case Fn::Min:
    case Fn::Max:
      return a == Known::Zero && b == Known::Zero ? Known::Zero : Known::Finite;
    case Fn::Neg:
    case Fn::Abs:
    case Fn::Convert:
      return a;
    case Fn::Select:
      return b == Known::Zero && c == Known::Zero ? Known::Zero : Known::Finite;
    default:
      return n.fn == Fn::Lookup ? Known::Finite : Known::Anything;
  }
}

class MaskFactoring {
 public:
  explicit MaskFactoring(Graph& graph) : graph_(graph) {}

  void run() {
    std::map<NodeId, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < graph_.contributions.size(); ++i) {
      const Contribution& c = graph_.contributions[i];
      if (c.condition != no_node && c.reduction == Reduction::Sum) groups[c.condition].push_back(i);
    }
    for (const auto& [condition, members] : groups) factor(condition, members);
  }

 private:
  /// Whether all members are zero where the node `at` is.
  bool leaves_out(NodeId at, const std::vector<std::size_t>& members) const {
    std::vector<Known> known(graph_.nodes.size(), Known::Anything);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& n = graph_.nodes[i];
      // An absent operand does not matter.
      const auto of = [&](NodeId id) { return id == no_node ? Known::Finite : known[index(id)]; };
      const bool leaf = n.fn == Fn::Input || n.fn == Fn::Constant;
      known[i] = static_cast<NodeId>(i) == at ? Known::Zero
                 : leaf                       ? Known::Finite
                 : n.fn == Fn::Select         ? combine(n, Known::Finite, of(n.b), of(n.c))
                                              : combine(n, of(n.a), of(n.b), of(n.c));
    }
    return std::all_of(members.begin(), members.end(), [&](std::size_t m) {
      return known[index(graph_.contributions[m].value)] == Known::Zero;
    });
  }

  bool depends(NodeId node, NodeId on) const {
    std::vector<bool> yes(graph_.nodes.size(), false);
    yes[index(on)] = true;
    for (std::size_t i = index(on) + 1; i < graph_.nodes.size(); ++i)
      for (const NodeId in : {graph_.nodes[i].a, graph_.nodes[i].b, graph_.nodes[i].c})
        if (in != no_node && yes[index(in)]) yes[i] = true;
    return yes[index(node)];
  }

  void factor(NodeId condition, const std::vector<std::size_t>& members) {
    if (members.size() < 2) return;  // a predicate on the contribution itself is cheaper
    // The first such factor in text order is the furthest from the results: the more operations
    // follow it, the more can issue beside the predicated one.
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& n = graph_.nodes[i];
      if (n.type != Type::Short && n.type != Type::Long) continue;
      if (n.fn == Fn::Input || n.fn == Fn::Constant || n.fn == Fn::Select) continue;
      const auto id = static_cast<NodeId>(i);
      if (depends(condition, id) || !leaves_out(id, members)) continue;
      rewrite(condition, id, members);
      return;
    }
  }

  /// Rebuild `value` of the members with the node replaced by `condition ? node : 0`.
  void rewrite(NodeId condition, NodeId at, const std::vector<std::size_t>& members) {
    // The condition may follow the node: users of the selection are appended.
    std::map<NodeId, NodeId> made;
    const Node old = graph_.node(at);
    const std::size_t old_count = graph_.nodes.size();
    const auto append = [&](const Node& n) {
      graph_.nodes.push_back(n);
      return static_cast<NodeId>(graph_.nodes.size() - 1);
    };
    const NodeId zero = append({.fn = Fn::Constant, .type = old.type, .where = old.where});
    made[at] = append({.fn = Fn::Select,
                       .type = old.type,
                       .a = condition,
                       .b = at,
                       .c = zero,
                       .where = old.where});
    for (std::size_t i = index(at) + 1; i < old_count; ++i) {
      Node n = graph_.nodes[i];
      bool any = false;
      for (NodeId* in : {&n.a, &n.b, &n.c}) {
        const auto replaced = made.find(*in);
        if (replaced == made.end()) continue;
        *in = replaced->second;
        any = true;
      }
      if (any) made[static_cast<NodeId>(i)] = append(n);
    }
    for (const std::size_t m : members) {
      Contribution& c = graph_.contributions[m];
      c.value = made[c.value];
      c.condition = no_node;
    }
  }

  Graph& graph_;
};

}  // namespace

void factor_masks(Graph& graph) { MaskFactoring(graph).run(); }

void infer_types(Graph& graph) {
  std::vector<bool> narrow(graph.variables.size(), false);
  for (std::size_t v = 0; v < graph.variables.size(); ++v) {
    const GraphVariable& x = graph.variables[v];
    narrow[v] =
        !x.type_given && x.type == Type::Long && x.kind != VarKind::Result && x.table_size == 0;
  }
  std::vector<bool> read(graph.variables.size(), false);
  auto variable_of = [&](NodeId id) -> std::int32_t {
    if (id == no_node) return -1;
    const Node& n = graph.node(id);
    return n.fn == Fn::Input ? n.variable : -1;
  };
  for (const Node& n : graph.nodes) {
    for (const NodeId in : {n.a, n.b, n.c}) {
      const std::int32_t v = variable_of(in);
      if (v < 0) continue;
      read[index(v)] = true;
      const bool short_product = (n.fn == Fn::Mul || n.fn == Fn::Div) && n.type == Type::Short;
      if (!short_product) narrow[index(v)] = false;
    }
  }
  for (const Contribution& c : graph.contributions)
    for (const NodeId id : {c.value, c.payload, c.condition})
      if (const std::int32_t v = variable_of(id); v >= 0) narrow[index(v)] = false;
  for (std::size_t v = 0; v < graph.variables.size(); ++v)
    if (narrow[v] && read[v]) graph.variables[v].type = Type::Short;
  for (Node& n : graph.nodes)
    if (n.fn == Fn::Input && n.type != Type::Int) n.type = graph.variable(n.variable).type;
}

}  // namespace gdr::kc
