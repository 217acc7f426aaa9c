#include "kernels/compiler/front/derivative.hpp"

#include <algorithm>
#include <iterator>

#include "kernels/compiler/ir/function.hpp"

namespace gdr::kc::front {
namespace {

/// Longer guards become one condition, so that they take no more time than the numbers.
constexpr std::size_t longest_guard = 64;
/// Of more derivatives of one number no pairs of opposite conditions are looked for.
constexpr std::size_t max_pairs = 16;

/// Whether the result is rounded to the type of its node.
constexpr bool rounds(Fn fn) noexcept {
  return fn != Fn::Input && fn != Fn::Lookup && fn != Fn::Neg && fn != Fn::Abs && fn != Fn::Min &&
         fn != Fn::Max && fn != Fn::Select;
}

/// Whether the derivative is zero everywhere, or there is none: of steps, conditions and ints.
bool is_flat(const Node& node) noexcept {
  const bool number = node.type == Type::Short || node.type == Type::Long;
  const bool selects = node.fn == Fn::Min || node.fn == Fn::Max;
  const kc::Function* const f = function_of(node.fn);
  const bool is_step = f != nullptr && f->slopes[0] == nullptr && !selects;
  return !number || is_step || node.fn == Fn::Lookup;
}

/// The position at which two guards differ, if that is the only one and they are opposite there.
std::optional<std::size_t> opposite_at(const Guard& a, const Guard& b) {
  if (a.size() != b.size()) return std::nullopt;
  std::optional<std::size_t> at;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] == b[k]) continue;
    if (at || a[k].condition != b[k].condition) return std::nullopt;
    at = k;
  }
  return at;
}

Guard difference(const Guard& a, const Guard& b) {
  Guard out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

}  // namespace

void Derivative::differentiate(NodeId number, const Value& factor, const Value& condition) {
  if (auto guard = required({}, condition)) open_[number].push_back({std::move(*guard), factor});
}

std::size_t Derivative::run() {
  const std::vector<NodeId> nodes = reachable_nodes();
  for (const NodeId id : nodes) describe(id);
  // Users follow their operands: the derivative of the last number is complete.
  while (!open_.empty()) {
    const NodeId id = open_.begin()->first;
    const Terms terms = std::move(open_.begin()->second);
    open_.erase(open_.begin());
    if (!depends(id)) continue;
    here_ = {ctx_.wide || wide_.contains(id), false};
    const GuardedValue derivative = merged(terms);
    if (on_derivative) on_derivative(id, derivative.value);
    if (const auto variable = variables_.find(id); variable != variables_.end())
      variable->second = derivative;
    else
      propagate(id, derivative);
  }
  return nodes.size();
}

Value Derivative::number_of(NodeId variable) {
  here_ = ctx_;
  const GuardedValue& derivative = of(variable);
  return zero_unless(derivative.guard, derivative.value);
}

/// The nodes that the numbers are computed from, operands before their users.
std::vector<NodeId> Derivative::reachable_nodes() const {
  std::set<NodeId> reached;
  std::vector<NodeId> left;
  left.reserve(open_.size());
  for (const auto& [number, terms] : open_) left.push_back(number);
  while (!left.empty()) {
    const NodeId id = left.back();
    left.pop_back();
    if (id == no_node || !reached.insert(id).second) continue;
    const Node& node = nodes_[id];
    for (const NodeId operand : {node.a, node.b, node.c}) left.push_back(operand);
  }
  return {reached.begin(), reached.end()};
}

/// What the rules have to know of a node, after its operands.
void Derivative::describe(NodeId id) {
  const Node& node = nodes_[id];
  bool any_depends = false, any_wide = false;
  for (const NodeId operand : {node.a, node.b, node.c}) {
    any_depends |= depends(operand);
    any_wide |= wide_.contains(operand);
  }
  if (variables_.contains(id) || (any_depends && !is_flat(node))) depends_.insert(id);
  if (node.type == Type::Long && (rounds(node.fn) ? node.fn != Fn::Constant : any_wide))
    wide_.insert(id);
  if (node.fn != Fn::Mul) return;
  const auto [base, m] = power_of(node.a);
  const auto [other, n] = power_of(node.b);
  if (base != other) return;
  powers_[id] = {base, m + n};
  node_of_power_.try_emplace({base, m + n}, id);
}

/// A number as a power of another. A variable is independent of what it is computed from.
std::pair<NodeId, int> Derivative::power_of(NodeId id) const {
  const auto found = variables_.contains(id) ? powers_.end() : powers_.find(id);
  return found == powers_.end() ? std::pair(id, 1) : found->second;
}

Value Derivative::value_of(NodeId id) const {
  if (id == no_node) return {};
  const Node& node = nodes_[id];
  if (node.fn == Fn::Constant)
    return node.type == Type::Int ? constant_int(node.integer) : constant_number(node.number);
  const Kind kind = node.type == Type::Int    ? Kind::Int
                    : node.type == Type::Bool ? Kind::Bool
                                              : Kind::Number;
  return node_value(kind, id, wide_.contains(id));
}

/// With the constant factors of both in front, so that they become one.
Value Derivative::product(const Value& a, const Value& b) {
  if (a.poison() || b.poison()) return {};
  const auto [x, v] = split(a);
  const auto [y, w] = split(b);
  const Value rest = Components(with_, here_, where_).product(v, w);
  if (x * y == -1) return with_.negate(rest, where_);
  return Components(with_, here_, where_).product(constant_number(x * y), rest);
}

/// A number as a constant times another.
std::pair<double, Value> Derivative::split(const Value& v) const {
  if (v.constant) return {v.number, constant_int(1)};
  double factor = 1;
  for (NodeId id = v.node;;) {
    const Node& node = nodes_[id];
    const bool left = node.fn == Fn::Mul && nodes_[node.a].fn == Fn::Constant;
    const bool right = node.fn == Fn::Mul && nodes_[node.b].fn == Fn::Constant;
    if (shared_.contains(id) || (node.fn != Fn::Neg && !left && !right))
      return {factor, node_value(v.kind, id, v.wide && node.type == Type::Long)};
    factor *= node.fn == Fn::Neg ? -1 : nodes_[left ? node.a : node.b].number;
    id = left ? node.b : node.a;
  }
}
Value Derivative::sum(const Value& a, const Value& b) {
  return Components(with_, here_, where_).sum(a, b);
}

void Derivative::propagate(NodeId id, const GuardedValue& g) {
  const Node node = nodes_[id];
  const bool is_sum = node.fn == Fn::Add || node.fn == Fn::Sub;
  if (is_sum && depends(node.a) && depends(node.b) && !g.value.constant)
    shared_.insert(g.value.node);
  switch (node.fn) {
    case Fn::Add:
      add(node.a, g.value, g.guard);
      return add(node.b, g.value, g.guard);
    case Fn::Sub:
      add(node.a, g.value, g.guard);
      return add(node.b, with_.negate(g.value, where_), g.guard);
    case Fn::Neg:
      return add(node.a, with_.negate(g.value, where_), g.guard);
    case Fn::Convert:
      return add(node.a, g.value, g.guard);
    case Fn::Mul:
      return product_rule(id, g);
    case Fn::Div:
      return quotient_rule(id, g);
    case Fn::Select:
    case Fn::Min:
    case Fn::Max:
      return selection_rule(node, g);
    default:
      return function_rule(id, g);
  }
}

void Derivative::product_rule(NodeId id, const GuardedValue& g) {
  const Node node = nodes_[id];
  if (power_rule(id, g)) return;
  if (node.a == node.b) {
    // A sum of squares has the same factor for all.
    if (!g.value.constant) shared_.erase(g.value.node);
    const Value twice = product(constant_int(2), g.value);
    if (!twice.constant) shared_.insert(twice.node);
    return add(node.a, product(twice, value_of(node.a)), g.guard);
  }
  if (depends(node.a)) add(node.a, product(g.value, value_of(node.b)), g.guard);
  if (depends(node.b)) add(node.b, product(g.value, value_of(node.a)), g.guard);
}

/// Of a power of at least three factors at once: of an inverse or an inverse root with respect to
/// its argument, of others if the power below is there.
bool Derivative::power_rule(NodeId id, const GuardedValue& g) {
  const auto [base, n] = power_of(id);
  if (n < 3) return false;
  const Node of = nodes_[base];
  const bool inner = !variables_.contains(base);
  const auto below = node_of_power_.find({base, n - 1});
  const auto scaled = [&](double factor) { return product(constant_number(factor), g.value); };
  const Value x = value_of(base), power = value_of(id);
  if (inner && of.fn == Fn::Reciprocal)
    add(of.a, product(scaled(-n), product(power, x)), g.guard);
  else if (inner && of.fn == Fn::Rsqrt)
    add(of.a, product(scaled(-0.5 * n), product(power, product(x, x))), g.guard);
  else if (below != node_of_power_.end())
    add(base, product(scaled(n), value_of(below->second)), g.guard);
  else
    return false;
  return true;
}

void Derivative::quotient_rule(NodeId id, const GuardedValue& g) {
  const Node node = nodes_[id];
  const Value a = value_of(node.a), q = value_of(id);
  if (a.constant) {
    // -g q^2/a needs no further division.
    if (a.number == 0) return;
    return add(node.b, product(product(constant_number(-1 / a.number), g.value), product(q, q)),
               g.guard);
  }
  const Value over = with_.combine(Fn::Div, g.value, value_of(node.b), here_, where_);
  add(node.a, over, g.guard);
  if (depends(node.b)) add(node.b, with_.negate(product(over, q), where_), g.guard);
}

/// The operand that counts gets the derivative; of equal ones the first.
void Derivative::selection_rule(const Node& node, const GuardedValue& g) {
  if (node.fn == Fn::Select) {
    const Value condition = value_of(node.a);
    add(node.b, g.value, required(g.guard, condition, true));
    return add(node.c, g.value, required(g.guard, condition, false));
  }
  const Value a = value_of(node.a), b = value_of(node.b);
  const Value second = node.fn == Fn::Min ? with_.less(b, a, where_) : with_.less(a, b, where_);
  add(node.a, g.value, required(g.guard, second, false));
  add(node.b, g.value, required(g.guard, second, true));
}

void Derivative::function_rule(NodeId id, const GuardedValue& g) {
  const Node node = nodes_[id];
  const kc::Function* const f = function_of(node.fn);
  if (f == nullptr) return;
  const FunctionAt at{with_,
                      here_,
                      where_,
                      value_of(node.a),
                      value_of(node.b),
                      value_of(id),
                      static_cast<int>(node.integer)};
  const auto through = [&](NodeId operand, Slope (*slope_by)(const FunctionAt&)) {
    if (slope_by == nullptr || !depends(operand)) return;
    const Slope slope = slope_by(at);
    add(operand, product(g.value, slope.value), required(g.guard, slope.condition));
  };
  through(node.a, f->slopes[0]);
  through(node.b, f->slopes[1]);
}

void Derivative::add(NodeId operand, Value value, std::optional<Guard> guard) {
  if (!guard || !depends(operand) || is_constant(value, 0)) return;
  open_[operand].push_back({std::move(*guard), std::move(value)});
}

/// The sum of derivatives: those of one guard first, then those that exclude each other, which are
/// selected.
GuardedValue Derivative::merged(const Terms& terms) {
  Terms sums;
  for (const GuardedValue& term : terms) {
    const auto same = std::ranges::find(sums, term.guard, &GuardedValue::guard);
    if (same == sums.end())
      sums.push_back(term);
    else
      same->value = sum(same->value, term.value);
  }
  for (std::size_t i = 0; i < sums.size() && sums.size() <= max_pairs; ++i)
    for (std::size_t k = i + 1; k < sums.size(); ++k) {
      const auto at = opposite_at(sums[i].guard, sums[k].guard);
      if (!at) continue;
      const auto [condition, holds] = sums[i].guard[*at];
      const Value &yes = sums[holds ? i : k].value, &no = sums[holds ? k : i].value;
      sums[i].value = with_.choose(node_value(Kind::Bool, condition), yes, no, here_, where_);
      sums[i].guard.erase(sums[i].guard.begin() + static_cast<std::ptrdiff_t>(*at));
      sums.erase(sums.begin() + static_cast<std::ptrdiff_t>(k));
      return merged(sums);
    }
  GuardedValue all = sums.front();
  for (std::size_t k = 1; k < sums.size(); ++k) all = sum(all, sums[k]);
  return all;
}

/// Under what both require, and one of what only one requires.
GuardedValue Derivative::sum(const GuardedValue& a, const GuardedValue& b) {
  const Guard only_a = difference(a.guard, b.guard), only_b = difference(b.guard, a.guard);
  const Guard both = difference(a.guard, only_a);
  const Value total = sum(zero_unless(only_a, a.value), zero_unless(only_b, b.value));
  if (only_a.empty() || only_b.empty()) return {both, total};
  const Value any = with_.either(condition_of(only_a), condition_of(only_b), where_);
  return {required(both, any).value_or(both), total};
}

Value Derivative::zero_unless(const Guard& guard, const Value& value) {
  if (guard.empty() || value.poison() || is_constant(value, 0)) return value;
  return with_.choose(condition_of(guard), value, constant_number(0), here_, where_);
}

Value Derivative::condition_of(const Guard& guard) {
  Value all = constant_bool(true);
  for (const auto& [id, holds] : guard) {
    const Value condition = node_value(Kind::Bool, id);
    all = with_.both(all, holds ? condition : with_.invert(condition, where_), where_);
  }
  return all;
}

std::optional<Guard> Derivative::required(Guard guard, const Value& condition, bool holds) {
  if (condition.poison()) return guard;
  if (condition.constant) return condition.truth == holds ? std::optional(guard) : std::nullopt;
  std::set<Requirement> all(guard.begin(), guard.end()), seen;
  std::vector<Requirement> left{{condition.node, holds}};
  while (!left.empty()) {
    const Requirement next = left.back();
    left.pop_back();
    if (!seen.insert(next).second) continue;
    const Node& node = nodes_[next.condition];
    if (node.fn == Fn::Not) {
      left.push_back({node.a, !next.holds});
    } else if (node.fn == (next.holds ? Fn::And : Fn::Or)) {
      left.push_back({node.a, next.holds});
      left.push_back({node.b, next.holds});
    } else {
      if (all.contains({next.condition, !next.holds})) return std::nullopt;
      all.insert(next);
    }
  }
  guard.assign(all.begin(), all.end());
  if (guard.size() > longest_guard) guard = {{condition_of(guard).node, true}};
  return guard;
}

}  // namespace gdr::kc::front
