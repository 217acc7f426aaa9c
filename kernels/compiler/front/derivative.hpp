// Derivatives of numbers, by reverse accumulation over the nodes of a graph: from the numbers that
// are differentiated back to the variables, adding nodes for the derivatives on the way.
//
// A number that counts only under a condition (a branch of `? :`, the operand that a minimum
// selects, an argument where a slope is finite) has a derivative that counts under the same
// condition. The conditions travel with the derivatives, and are applied where derivatives of
// different conditions meet, and at the variables: so what is infinite or not a number in a branch
// that is not taken never reaches a sum.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "kernels/compiler/front/arithmetic.hpp"

namespace gdr::kc::front {

/// Conditions that all must hold, sorted; none: always.
struct Requirement {
  NodeId condition = no_node;
  bool holds = true;  ///< false: it must not hold
  auto operator<=>(const Requirement&) const = default;
};
using Guard = std::vector<Requirement>;

/// A derivative that counts where its guard holds; elsewhere it is zero, whatever the value.
struct GuardedValue {
  Guard guard;
  Value value;
};

class Derivative {
 public:
  Derivative(NodeTable& nodes, Arithmetic& with, Context ctx, const SourceRange& where)
      : nodes_(nodes), with_(with), ctx_(ctx), where_(where) {}

  /// The numbers with respect to which derivatives are taken: nodes of variables or of values,
  /// which are then independent of what they are computed from.
  void respect_to(NodeId variable) { variables_[variable] = {{}, constant_int(0)}; }
  /// Differentiate this number, times a factor, under a condition (Bool). Several are added.
  void differentiate(NodeId number, const Value& factor, const Value& condition);
  /// Derivatives of all numbers to differentiate with respect to all variables; once. Returns the
  /// number of nodes visited.
  std::size_t run();
  /// The derivative with respect to a variable; a constant zero if nothing depends on it.
  const GuardedValue& of(NodeId variable) const { return variables_.at(variable); }
  /// The same as a number that is zero where the guard does not hold.
  Value number_of(NodeId variable);
  /// Whether all requirements hold, as a condition.
  Value condition_of(const Guard& guard);

  /// Called with a node and its derivative as soon as that is known, to give it a name.
  std::function<void(NodeId, const Value&)> on_derivative = {};

 private:
  using Terms = std::vector<GuardedValue>;

  std::vector<NodeId> reachable_nodes() const;
  void describe(NodeId id);
  void propagate(NodeId id, const GuardedValue& derivative);
  void product_rule(NodeId id, const GuardedValue& g);
  bool power_rule(NodeId id, const GuardedValue& g);
  void quotient_rule(NodeId id, const GuardedValue& g);
  void selection_rule(const Node& node, const GuardedValue& g);
  void function_rule(NodeId id, const GuardedValue& g);
  void add(NodeId operand, Value value, std::optional<Guard> guard);

  GuardedValue merged(const Terms& terms);
  GuardedValue sum(const GuardedValue& a, const GuardedValue& b);
  Value zero_unless(const Guard& guard, const Value& value);
  /// With one more requirement; nothing if it never holds.
  std::optional<Guard> required(Guard guard, const Value& condition, bool holds = true);

  bool depends(NodeId id) const { return depends_.contains(id); }
  Value value_of(NodeId id) const;
  std::pair<NodeId, int> power_of(NodeId id) const;
  Value product(const Value& a, const Value& b);
  std::pair<double, Value> split(const Value& v) const;
  Value sum(const Value& a, const Value& b);

  NodeTable& nodes_;
  Arithmetic& with_;
  const Context ctx_;
  Context here_ = {};  ///< context of the node that is propagated
  const SourceRange where_;
  std::map<NodeId, GuardedValue> variables_;
  std::map<NodeId, Terms, std::greater<>> open_;  ///< numbers whose derivatives are not complete
  std::set<NodeId> depends_;                      ///< nodes that depend on a variable
  std::set<NodeId> wide_;                         ///< nodes whose users give longs
  /// Derivatives of several numbers: a constant factor stays with them, as it is multiplied once.
  std::set<NodeId> shared_;
  /// Products of one number: the number, how many, and the node of each power.
  std::map<NodeId, std::pair<NodeId, int>> powers_;
  std::map<std::pair<NodeId, int>, NodeId> node_of_power_;
};

/// A function of one or two numbers at its arguments, for its slopes.
struct FunctionAt {
  Arithmetic& with;
  Context ctx;
  const SourceRange& where;
  Value x, y;  ///< arguments
  Value f;     ///< value of the function
  int order;   ///< order of a Boys function

  Value number(double c) const { return constant_number(c); }
  Value plus(const Value& a, const Value& b) const {
    return with.combine(Fn::Add, a, b, ctx, where);
  }
  Value minus(const Value& a, const Value& b) const {
    return with.combine(Fn::Sub, a, b, ctx, where);
  }
  Value times(const Value& a, const Value& b) const {
    return Components(with, ctx, where).product(a, b);
  }
  Value over(const Value& a, const Value& b) const {
    return with.combine(Fn::Div, a, b, ctx, where);
  }
  Value negative(const Value& a) const { return with.negate(a, where); }
  Value apply(Fn fn, const Value& a) const { return with.round1(fn, a, ctx, where); }
  Value less(const Value& a, const Value& b) const { return with.less(a, b, where); }
  Value is_not(const Value& a, const Value& b) const {
    return with.invert(with.equal(a, b, where), where);
  }
};

/// The partial derivative of a function, and the condition under which it counts; elsewhere it is
/// zero.
struct Slope {
  Value value;
  Value condition = constant_bool(true);
};

}  // namespace gdr::kc::front
