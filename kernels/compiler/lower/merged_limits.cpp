// One comparison of a value with the smaller of two limits, instead of one with each.
//
// The conditions of contributions are conjunctions; those with the same value on one side, and on
// the other limits that do not depend on the source, are merged in pairs. A comparison with a NaN
// is false, and its negation true: the minimum of two limits is a NaN if either is, as it must be
// where both comparisons have to hold. A negated comparison ignores a limit that is a NaN, so that
// it is merged only if its limit is always a number.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "kernels/compiler/lower/lower.hpp"
#include "kernels/compiler/lower/shared_nodes.hpp"

namespace gdr::kc {
namespace {

/// A part of a conjunction: a condition, or its opposite.
struct Part {
  NodeId node = no_node;
  bool negated = false;
  bool operator==(const Part&) const = default;
};

/// A part that compares a value with a limit.
struct Limited {
  NodeId value = no_node, limit = no_node;
  bool upper = false;    ///< the value is below the limit, else above
  bool strict = false;   ///< equal values are left out
  bool ordered = false;  ///< holds between numbers only, else also where one is a NaN
  SourceRange where = {};

  bool like(const Limited& other) const noexcept {
    return value == other.value && upper == other.upper && strict == other.strict;
  }
};

class LimitMerging {
 public:
  explicit LimitMerging(Graph& graph) : graph_(graph), nodes_(graph) {
    for (const Node& n : graph.nodes) {
      bool varies = n.fn == Fn::Input && graph.variable(n.variable).kind == VarKind::Source;
      bool finite = (n.fn == Fn::Input || n.fn == Fn::Constant) && !varies;
      for (const NodeId in : {n.a, n.b, n.c})
        varies = varies || (in != no_node && varies_[index(in)]);
      const bool keeps =
          n.fn == Fn::Convert ? n.type == Type::Long : n.fn == Fn::Neg || n.fn == Fn::Abs;
      if (keeps) finite = finite_[index(n.a)];
      varies_.push_back(varies);
      finite_.push_back(finite);
    }
  }

  void run() {
    std::map<NodeId, NodeId> merged;
    for (Contribution& c : graph_.contributions) {
      if (c.condition == no_node) continue;
      const auto [known, is_new] = merged.try_emplace(c.condition, c.condition);
      if (is_new) known->second = merge(c.condition);
      c.condition = known->second;
    }
  }

 private:
  /// The a < b of a <= b, which is (a < b) or (a == b); else no_node.
  NodeId less_of_at_most(const Node& n) const {
    if (n.fn != Fn::Or) return no_node;
    const bool swapped = graph_.node(n.a).fn == Fn::Equal;
    const NodeId id = swapped ? n.b : n.a;
    const Node &less = graph_.node(id), &equal = graph_.node(swapped ? n.a : n.b);
    const bool alike =
        less.fn == Fn::Less && equal.fn == Fn::Equal &&
        ((less.a == equal.a && less.b == equal.b) || (less.a == equal.b && less.b == equal.a));
    return alike ? id : no_node;
  }

  void divide(NodeId id, bool negated, std::vector<Part>& parts) const {
    const Node& n = graph_.node(id);
    if (n.fn == Fn::Not) return divide(n.a, !negated, parts);
    if (n.fn == (negated ? Fn::Or : Fn::And) && less_of_at_most(n) == no_node) {
      divide(n.a, negated, parts);
      divide(n.b, negated, parts);
      return;
    }
    const Part part{id, negated};
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(part);
  }

  /// The operand of conversions that change nothing, as of shorts that have become longs.
  NodeId converted(NodeId id) const {
    const Node& n = graph_.node(id);
    const bool same = n.fn == Fn::Convert && n.type == graph_.node(n.a).type && n.integer == 0;
    return same ? converted(n.a) : id;
  }

  std::optional<Limited> limited(const Part& part) const {
    const Node& n = graph_.node(part.node);
    const NodeId of_at_most = less_of_at_most(n);
    const bool at_most = of_at_most != no_node;
    if (!at_most && n.fn != Fn::Less) return {};
    const Node& less = at_most ? graph_.node(of_at_most) : n;
    if (varies_[index(less.a)] == varies_[index(less.b)]) return {};
    const bool first = varies_[index(less.a)];
    Limited l;
    l.value = converted(first ? less.a : less.b);
    l.limit = converted(first ? less.b : less.a);
    l.upper = first != part.negated;
    l.strict = at_most == part.negated;
    l.ordered = !part.negated;
    l.where = n.where;
    return l;
  }

  /// Whether a limit is a finite number, as variables are, for which the host takes no others; or
  /// the square of one as an upper limit, which may be infinite.
  bool is_number(const Limited& l) const {
    const Node& n = graph_.node(l.limit);
    if (n.type == Type::Int) return true;
    const bool square = l.upper && n.fn == Fn::Mul && n.a == n.b;
    return finite_[index(square ? n.a : l.limit)];
  }

  bool can_merge(const Limited& a, const Limited& b) const {
    return a.like(b) && (a.ordered || is_number(a)) && (b.ordered || is_number(b));
  }

  NodeId wider(NodeId id, Type type) {
    return graph_.node(id).type == type ? id : add(Fn::Convert, type, id);
  }

  NodeId nearer_limit(const Limited& a, const Limited& b) {
    const Node x = graph_.node(a.limit), y = graph_.node(b.limit);
    if (x.fn == Fn::Constant && y.fn == Fn::Constant) {
      const bool less = x.type == Type::Int ? x.integer < y.integer : x.number < y.number;
      return less == a.upper ? a.limit : b.limit;
    }
    const Type type = x.type == y.type ? x.type : Type::Long;
    const NodeId left = wider(a.limit, type);
    return add(a.upper ? Fn::Min : Fn::Max, type, left, wider(b.limit, type));
  }

  /// The condition of a value and a limit.
  NodeId condition(const Limited& l) {
    const bool value_first = l.upper == l.ordered;
    const NodeId left = value_first ? l.value : l.limit, right = value_first ? l.limit : l.value;
    NodeId made = add(Fn::Less, Type::Bool, left, right);
    if (l.strict != l.ordered)
      made = add(Fn::Or, Type::Bool, made, add(Fn::Equal, Type::Bool, left, right));
    return l.ordered ? made : add(Fn::Not, Type::Bool, made);
  }

  NodeId add(Fn fn, Type type, NodeId a, NodeId b = no_node) {
    const NodeId id = nodes_.operation(fn, type, a, b);
    if (index(id) >= varies_.size()) {
      varies_.push_back(varies_[index(a)] || (b != no_node && varies_[index(b)]));
      finite_.push_back(finite_[index(a)] && (b == no_node || finite_[index(b)]));
      graph_.nodes.back().where = where_;
    }
    return id;
  }

  NodeId merge(NodeId id) {
    std::vector<Part> parts;
    divide(id, false, parts);
    bool any = false;
    for (std::size_t k = 0; k < parts.size(); ++k)
      for (std::size_t other = k + 1; other < parts.size();) {
        const std::optional<Limited> a = limited(parts[k]), b = limited(parts[other]);
        if (!a || !b || !can_merge(*a, *b)) {
          ++other;
          continue;
        }
        where_ = a->where;
        Limited both = *a;
        both.limit = nearer_limit(*a, *b);
        both.ordered = a->ordered || b->ordered;
        parts[k] = {condition(both), false};
        if (const Node& n = graph_.node(parts[k].node); n.fn == Fn::Not) parts[k] = {n.a, true};
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(other));
        any = true;
      }
    if (!any) return id;
    NodeId all = no_node;
    for (const Part& part : parts) {
      where_ = graph_.node(part.node).where;
      const NodeId one = part.negated ? add(Fn::Not, Type::Bool, part.node) : part.node;
      all = all == no_node ? one : add(Fn::And, Type::Bool, all, one);
    }
    return all;
  }

  Graph& graph_;
  SharedNodes nodes_;
  std::vector<bool> varies_;  ///< whether a node depends on the source
  std::vector<bool> finite_;  ///< whether a node is a finite number in every call
  SourceRange where_ = {};
};

}  // namespace

void merge_limits(Graph& graph) { LimitMerging(graph).run(); }

}  // namespace gdr::kc
