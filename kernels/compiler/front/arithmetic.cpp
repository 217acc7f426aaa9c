#include "kernels/compiler/front/arithmetic.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "emulator/host/hash.hpp"
#include "kernels/compiler/front/complete_images.hpp"
#include "kernels/compiler/front/complex.hpp"
#include "kernels/compiler/ir/evaluate.hpp"

namespace gdr::kc::front {
namespace {

constexpr std::int64_t int_limit = std::int64_t{1} << 35;  // signed 36-bit word
constexpr int largest_exponent = 64;                       // of power() by products
constexpr int largest_boys_order = 16;
constexpr std::int64_t largest_divisor = std::int64_t{1} << 26;  // of ints

/// Not minima and maxima: of equal operands the first has the derivative.
constexpr bool commutes(Fn fn) noexcept {
  return fn == Fn::Add || fn == Fn::Mul || fn == Fn::Equal || fn == Fn::And || fn == Fn::Or;
}

/// Whether a short represents it exactly.
bool fits_short(double x) noexcept {
  int exponent = 0;
  const double scaled = std::ldexp(std::frexp(x, &exponent), 25);
  return scaled == std::trunc(scaled) && (x == 0 || exponent > -1022);
}

/// The nearest short, of two the even one.
double to_short(double x) noexcept {
  if (!std::isfinite(x)) return x;
  int exponent = 0;
  const double scaled = std::ldexp(std::frexp(x, &exponent), 25), below = std::floor(scaled);
  const double rest = scaled - below;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0);
  return std::ldexp(below + (up ? 1 : 0), exponent - 25);
}

/// The result for ints; nothing if it is not an int, or too large.
std::optional<std::int64_t> int_result(Fn fn, std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  bool overflow = false;
  if (fn == Fn::Add) overflow = __builtin_add_overflow(a, b, &result);
  if (fn == Fn::Sub) overflow = __builtin_sub_overflow(a, b, &result);
  if (fn == Fn::Mul) overflow = __builtin_mul_overflow(a, b, &result);
  if (fn == Fn::Div) {
    overflow = b == 0 || b == -1 || a % b != 0;
    if (!overflow) result = a / b;
  }
  return overflow ? std::nullopt : std::optional(result);
}

/// Depth-first search for a star chain (every step uses the previous number) of at most `limit`
/// steps. For all exponents up to the limit a shortest addition chain is of this form.
bool extend(std::vector<int>& chain, std::vector<std::pair<int, int>>& steps, std::size_t limit,
            int n) {
  const int last = chain.back();
  if (last == n) return true;
  if (steps.size() == limit) return false;
  if (static_cast<std::int64_t>(last) << (limit - steps.size()) < n) return false;
  for (std::size_t i = chain.size(); i-- > 0;) {
    if (last + chain[i] > n) continue;
    steps.emplace_back(static_cast<int>(chain.size() - 1), static_cast<int>(i));
    chain.push_back(last + chain[i]);
    if (extend(chain, steps, limit, n)) return true;
    chain.pop_back();
    steps.pop_back();
  }
  return false;
}

}  // namespace

std::size_t NodeTable::KeyHash::operator()(const Key& key) const noexcept {
  Hash hash;
  std::apply([&](const auto&... members) { (hash.add(members), ...); }, key);
  return hash.value();
}

NodeId NodeTable::node(Node n) {
  if (commutes(n.fn) && n.a > n.b) std::swap(n.a, n.b);
  const auto [it, is_new] = ids_.try_emplace(
      {n.fn, n.type, n.a, n.b, n.c, n.variable, std::bit_cast<std::uint64_t>(n.number), n.integer},
      static_cast<NodeId>(nodes_.size()));
  if (is_new) nodes_.push_back(n);
  return it->second;
}

void drop_unused_nodes(Graph& graph) {
  const std::vector<bool> needed = needed_nodes(graph);
  std::vector<NodeId> moved(graph.nodes.size(), no_node);
  const auto renumber = [&](NodeId& id) {
    if (id != no_node) id = moved[index(id)];
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
  std::map<NodeId, std::string> names;
  for (auto& [id, name] : graph.names)
    if (moved[index(id)] != no_node) names.emplace(moved[index(id)], std::move(name));
  graph.names = std::move(names);
}

bool Arithmetic::is_long(const Value& a) const {
  return !a.constant && a.kind == Kind::Number && nodes_[a.node].type == Type::Long;
}

NodeId Arithmetic::number_node(const Value& a, Type type, const SourceRange& where) {
  if (!a.constant) {
    if (a.kind == Kind::Number) return a.node;
    return nodes_.make(Fn::Convert, type, where, a.node);
  }
  return nodes_.node({.fn = Fn::Constant,
                      .type = fits_short(a.number) ? Type::Short : type,
                      .number = a.number,
                      .where = where});
}

NodeId Arithmetic::int_node(const Value& a, const SourceRange& where) {
  if (!a.constant) return a.node;
  check_int(a, where);
  return nodes_.node({.fn = Fn::Constant, .type = Type::Int, .integer = a.integer, .where = where});
}

bool Arithmetic::check_int(const Value& a, const SourceRange& where) {
  if (a.integer >= -int_limit && a.integer < int_limit) return true;
  error(Code::NoValue, where, std::to_string(a.integer) + " exceeds the 36 bits of an int");
  return false;
}

/// A constant that was computed from constants.
Value Arithmetic::known(double x, bool wide, const SourceRange& where) {
  if (std::isfinite(x)) return constant_number(x, wide);
  error(Code::NoValue, where, "the expression is not a finite number")
      .label(std::isnan(x) ? "not a number" : "infinite");
  return {};
}

bool Arithmetic::arithmetic_operand(const Value& a, const SourceRange& where) {
  if (a.has_parts()) return has_shape(Shape::Scalar, a, where);
  if (a.kind != Kind::Bool) return !a.poison();
  error(Code::WrongType, where, "a condition cannot be used as a number")
      .help("use `condition ? 1 : 0`");
  return false;
}

Value Arithmetic::combine(Fn fn, const Value& a, const Value& b, Context ctx,
                          const SourceRange& where) {
  if (a.has_parts() || b.has_parts()) return combine_parts(fn, a, b, ctx, where);
  if (!arithmetic_operand(a, where) || !arithmetic_operand(b, where)) return {};
  if (a.kind == Kind::Int && b.kind == Kind::Int) return combine_ints(fn, a, b, ctx, where);
  if (a.constant && b.constant)
    return known(evaluation::compute(fn, a.number, b.number), a.wide || b.wide, where);
  const bool wide = ctx.wide || a.wide || b.wide;
  const Type type = wide ? Type::Long : Type::Short;
  const NodeId left = number_node(a, type, where);
  return node_value(Kind::Number, nodes_.make(fn, type, where, left, number_node(b, type, where)),
                    wide);
}

Value Arithmetic::combine_ints(Fn fn, const Value& a, const Value& b, Context ctx,
                               const SourceRange& where) {
  if (a.constant && b.constant) {
    const auto result = int_result(fn, a.integer, b.integer);
    if (!result) return known(evaluation::compute(fn, a.number, b.number), ctx.wide, where);
    Value v = constant_int(*result);
    v.fixed_int = a.fixed_int || b.fixed_int;
    return v;
  }
  if (fn == Fn::Add || fn == Fn::Sub) {
    const NodeId left = int_node(a, where);
    return node_value(Kind::Int, nodes_.make(fn, Type::Int, where, left, int_node(b, where)));
  }
  if (fn == Fn::Mul && a.constant) return times_constant(b, a.integer, where);
  if (fn == Fn::Mul && b.constant) return times_constant(a, b.integer, where);
  if (fn == Fn::Div && b.constant) return quotient(a, b, where);
  error(Code::WrongType, where,
        fn == Fn::Mul ? "ints can only be multiplied by constants"
                      : "ints can only be divided by constants")
      .help("convert them to numbers: short(n) or long(n)");
  return {};
}

/// n divided by a constant, rounded towards zero.
Value Arithmetic::quotient(const Value& a, const Value& b, const SourceRange& where) {
  if (b.integer == 0) {
    error(Code::NoValue, where, "an int is divided by zero");
    return {};
  }
  if (b.integer == 1) return a;
  if (b.integer < 0) return negate(quotient(a, constant_int(-b.integer), where), where);
  if (b.integer >= largest_divisor && !std::has_single_bit(static_cast<std::uint64_t>(b.integer))) {
    error(Code::NoValue, where, "a divisor must be a power of two, or below 2^26");
    return {};
  }
  if (b.integer >= int_limit) return constant_int(0);
  const NodeId divisor =
      nodes_.node({.fn = Fn::Constant, .type = Type::Int, .integer = b.integer, .where = where});
  return node_value(Kind::Int, nodes_.make(Fn::Quotient, Type::Int, where, a.node, divisor));
}

Value Arithmetic::remainder(const Value& a, const Value& b, const SourceRange& where) {
  if (!arithmetic_operand(a, where) || !arithmetic_operand(b, where)) return {};
  if (a.kind != Kind::Int || b.kind != Kind::Int || !b.constant) {
    error(Code::WrongType, where, "`%` takes an int and a constant int")
        .help("of numbers: x - floor(x/y)*y");
    return {};
  }
  if (b.integer == 0) {
    error(Code::NoValue, where, "an int is divided by zero");
    return {};
  }
  if (a.constant) {
    Value v = constant_int(b.integer == -1 ? 0 : a.integer % b.integer);
    v.fixed_int = a.fixed_int || b.fixed_int;
    return v;
  }
  const Value ratio = quotient(a, b, where);
  if (ratio.poison()) return {};
  const Value multiple = combine_ints(Fn::Mul, ratio, b, {}, where);
  return combine_ints(Fn::Sub, a, multiple, {}, where);
}

Value Arithmetic::integer(const Value& a, const SourceRange& where) {
  if (!arithmetic_operand(a, where)) return {};
  if (a.kind == Kind::Int) return convert(Type::Int, a, where);
  if (a.constant) return convert(Type::Int, constant_number(std::trunc(a.number)), where);
  return node_value(Kind::Int, nodes_.make(Fn::Integer, Type::Int, where, a.node));
}

/// n times a constant, by doubling and adding: the machine has no integer multiplication.
Value Arithmetic::times_constant(const Value& a, std::int64_t factor, const SourceRange& where) {
  if (factor < -int_limit || factor > int_limit) {
    error(Code::NoValue, where, "the product exceeds the 36 bits of an int");
    return {};
  }
  if (factor == 0) return constant_int(0);
  const std::int64_t magnitude = factor < 0 ? -factor : factor;
  NodeId sum = no_node;
  for (int bit = 36; bit >= 0; --bit) {
    if (sum != no_node) sum = nodes_.make(Fn::Add, Type::Int, where, sum, sum);
    if (((magnitude >> bit) & 1) == 0) continue;
    sum = sum == no_node ? a.node : nodes_.make(Fn::Add, Type::Int, where, sum, a.node);
  }
  const Value product = node_value(Kind::Int, sum);
  return factor < 0 ? negate(product, where) : product;
}

Value Arithmetic::negate(const Value& a, const SourceRange& where) {
  if (a.has_parts()) {
    std::vector<Value> parts;
    for (const Value& part : a.parts)
      parts.push_back(is_constant(part, 0) ? part : negate(part, where));
    return value_of_parts(a.shape(), std::move(parts));
  }
  if (!arithmetic_operand(a, where)) return {};
  if (a.constant_int() && a.integer != std::numeric_limits<std::int64_t>::min()) {
    Value v = constant_int(-a.integer);
    v.fixed_int = a.fixed_int;
    return v;
  }
  if (a.constant) return constant_number(-a.number, a.wide);
  if (a.kind == Kind::Int) {
    const NodeId zero = int_node(constant_int(0), where);
    return node_value(Kind::Int, nodes_.make(Fn::Sub, Type::Int, where, zero, a.node));
  }
  return node_value(Kind::Number, nodes_.make(Fn::Neg, nodes_[a.node].type, where, a.node), a.wide);
}

Value Arithmetic::round1(Fn fn, const Value& a, Context ctx, const SourceRange& where) {
  if (!arithmetic_operand(a, where)) return {};
  if (a.constant) return known(evaluation::compute(fn, a.number), a.wide, where);
  const bool wide = ctx.wide || a.wide;
  const Type type = wide ? Type::Long : Type::Short;
  return node_value(Kind::Number, nodes_.make(fn, type, where, number_node(a, type, where)), wide);
}

Value Arithmetic::round2(Fn fn, const Value& a, const Value& b, Context ctx,
                         const SourceRange& where) {
  if (!arithmetic_operand(a, where) || !arithmetic_operand(b, where)) return {};
  const bool wide = ctx.wide || a.wide || b.wide;
  if (a.constant && b.constant)
    return known(evaluation::compute(fn, a.number, b.number), wide, where);
  const Type type = wide ? Type::Long : Type::Short;
  const NodeId first = number_node(a, type, where);
  return node_value(Kind::Number, nodes_.make(fn, type, where, first, number_node(b, type, where)),
                    wide);
}

Value Arithmetic::boys(const Value& order, const Value& a, Context ctx, const SourceRange& where) {
  if (!arithmetic_operand(order, where) || !arithmetic_operand(a, where)) return {};
  if (!order.constant) {
    error(Code::ConstantNeeded, where, "the order of a Boys function must be a constant");
    return {};
  }
  if (order.number != std::trunc(order.number) || order.number < 0 ||
      order.number > largest_boys_order) {
    error(Code::BadOrder, where,
          "the order of a Boys function must be an integer from 0 to " +
              std::to_string(largest_boys_order));
    return {};
  }
  const auto m = static_cast<int>(order.number);
  if (a.constant) return known(evaluation::compute(Fn::Boys, a.number, 0.0, 0.0, m), a.wide, where);
  const bool wide = ctx.wide || a.wide;
  const Type type = wide ? Type::Long : Type::Short;
  const NodeId x = number_node(a, type, where);
  return node_value(
      Kind::Number,
      nodes_.node({.fn = Fn::Boys, .type = type, .a = x, .integer = m, .where = where}), wide);
}

/// Abs, Min, Max and Select of numbers: keep the type of the operands, so that nothing is rounded.
Value Arithmetic::exact(Fn fn, const Value& condition, const Value& a, const Value& b, bool wide,
                        const SourceRange& where) {
  const Type wanted = wide || is_long(a) || is_long(b) ? Type::Long : Type::Short;
  const NodeId x = number_node(a, wanted, where);
  if (fn == Fn::Abs)
    return node_value(Kind::Number, nodes_.make(fn, nodes_[x].type, where, x), wide);
  const NodeId y = number_node(b, wanted, where);
  const bool is_any_long = nodes_[x].type == Type::Long || nodes_[y].type == Type::Long;
  const Type type = is_any_long ? Type::Long : Type::Short;
  // Equal constant alternatives remain a constant.
  if (x == y && a.constant) return constant_number(a.number, wide);
  if (x == y) return node_value(Kind::Number, x, wide);
  const NodeId made = fn == Fn::Select ? nodes_.make(fn, type, where, condition.node, x, y)
                                       : nodes_.make(fn, type, where, x, y);
  return node_value(Kind::Number, made, wide);
}

Value Arithmetic::absolute(const Value& a, const SourceRange& where) {
  if (!arithmetic_operand(a, where)) return {};
  if (a.constant) return a.number < 0 ? negate(a, where) : a;
  if (a.kind == Kind::Int) {
    const Value negative = relation(Fn::Less, a, constant_int(0), where);
    return choose(negative, negate(a, where), a, {}, where);
  }
  return exact(Fn::Abs, {}, a, {}, a.wide, where);
}

Value Arithmetic::extreme(Fn fn, const Value& a, const Value& b, Context ctx,
                          const SourceRange& where) {
  if (!arithmetic_operand(a, where) || !arithmetic_operand(b, where)) return {};
  const bool minimum = fn == Fn::Min;
  if (a.constant && b.constant) return (a.number < b.number) == minimum ? a : b;
  if (a.kind == Kind::Int && b.kind == Kind::Int) {
    const Value a_first = relation(Fn::Less, a, b, where);
    return minimum ? choose(a_first, a, b, ctx, where) : choose(a_first, b, a, ctx, where);
  }
  return exact(fn, {}, a, b, ctx.wide || a.wide || b.wide, where);
}

Value Arithmetic::convert(Type type, const Value& a, const SourceRange& where, bool written) {
  if (a.poison()) return {};
  if (type == Type::Bool) return condition(a, where);
  if (a.has_parts() && type != Type::Int) {
    std::vector<Value> parts;
    for (const Value& part : a.parts) parts.push_back(convert(type, part, where, written));
    return value_of_parts(a.shape(), std::move(parts));
  }
  if (!arithmetic_operand(a, where)) return {};
  Value v = a;
  if (type == Type::Int) {
    if (a.constant && a.number == std::trunc(a.number) && std::fabs(a.number) < 0x1p62)
      v = constant_int(a.kind == Kind::Int ? a.integer : static_cast<std::int64_t>(a.number));
    v.fixed_int = true;
    if (v.constant_int() && !check_int(v, where)) return {};
    if (v.kind == Kind::Int) return v;
    error(Code::IntegerNeeded, where, "a number is not an int")
        .help("`int(x)` rounds it towards zero, `int(round(x))` to the nearest");
    return {};
  }
  v.wide = type == Type::Long;
  v.kind = Kind::Number;
  v.fixed_int = false;
  if (a.constant) {
    if (type == Type::Short && written && a.kind == Kind::Number) v.number = to_short(a.number);
    return v;
  }
  // What is a short anyway stays one in the variant in longs, too, if the text asks for it.
  const bool rounds = type == Type::Short && (written || nodes_[a.node].type == Type::Long);
  if (a.kind == Kind::Int || rounds)
    v.node = nodes_.node({.fn = Fn::Convert,
                          .type = type,
                          .a = a.node,
                          .integer = rounds && written ? 1 : 0,
                          .where = where});
  return v;
}

Value Arithmetic::condition(const Value& a, const SourceRange& where) {
  if (a.kind == Kind::Bool || a.poison()) return a;
  error(Code::WrongType, where,
        "a condition is required, but this is a " + std::string(info(a.shape()).name))
      .help("use a comparison, for example `x != 0`");
  return {};
}

/// Less, Equal.
Value Arithmetic::relation(Fn fn, const Value& a, const Value& b, const SourceRange& where) {
  const bool ints = a.kind == Kind::Int && b.kind == Kind::Int;
  if (ints && a.constant && b.constant)
    return constant_bool(fn == Fn::Less ? a.integer < b.integer : a.integer == b.integer);
  if (a.constant && b.constant)
    return constant_bool(evaluation::compute(fn, a.number, b.number) != 0);
  // Comparisons do not round: an Int becomes a long.
  const bool is_any_long =
      is_long(a) || is_long(b) || a.wide || b.wide || a.kind == Kind::Int || b.kind == Kind::Int;
  const Type type = is_any_long ? Type::Long : Type::Short;
  const auto node = [&](const Value& v) {
    return ints ? int_node(v, where) : number_node(v, type, where);
  };
  const NodeId left = node(a);
  return node_value(Kind::Bool, nodes_.make(fn, Type::Bool, where, left, node(b)));
}

/// Whether a number has all its values up to the limit, if it is computed from periodic images.
bool Arithmetic::check_images(const Value& a, const Value& limit, const SourceRange& where) {
  if (a.kind != Kind::Number) return true;
  const std::optional<double> complete = complete_images(nodes_.all(), a.node);
  if (!complete || !(limit.number > *complete)) return true;
  error(Code::BeyondImages, where,
        fmt::format("periodic images are complete up to {:.4g}, and the limit is {:.4g}", *complete,
                    limit.number))
      .label("pairs with further images are lost")
      .help(
          "take a limit up to half of the shortest edge, or a larger cell with copies of its "
          "particles");
  return false;
}

Value Arithmetic::compare(std::string_view op, const Value& a, const Value& b,
                          const SourceRange& where) {
  if (a.poison() || b.poison()) return {};
  if (!has_shape(Shape::Scalar, a, where) || !has_shape(Shape::Scalar, b, where)) return {};
  if (a.kind == Kind::Bool || b.kind == Kind::Bool) {
    error(Code::WrongType, where, "conditions cannot be compared")
        .help("combine conditions with && and ||: `a < b && b < c`");
    return {};
  }
  if (op == "==") return relation(Fn::Equal, a, b, where);
  if (op == "!=") return invert(relation(Fn::Equal, a, b, where), where);
  if (a.constant != b.constant && !check_images(a.constant ? b : a, a.constant ? a : b, where))
    return {};
  // a > b and a >= b are b < a and b <= a.
  const bool swapped = op.front() == '>';
  const Value& x = swapped ? b : a;
  const Value& y = swapped ? a : b;
  if (op.size() == 1) return relation(Fn::Less, x, y, where);
  // `not (y < x)` is true for NaN.
  if (a.kind == Kind::Int && b.kind == Kind::Int)
    return invert(relation(Fn::Less, y, x, where), where);
  const Value equal = relation(Fn::Equal, a, b, where);
  return either(relation(Fn::Less, x, y, where), equal, where);
}

/// And, Or.
Value Arithmetic::logic(Fn fn, const Value& a, const Value& b, const SourceRange& where) {
  const Value x = condition(a, where);
  const Value y = condition(b, where);
  if (x.poison() || y.poison()) return {};
  // The constant that decides, whatever the other operand is.
  const bool deciding = fn == Fn::Or;
  if (x.constant) return x.truth == deciding ? x : y;
  if (y.constant) return y.truth == deciding ? y : x;
  if (x.node == y.node) return x;
  return node_value(Kind::Bool, nodes_.make(fn, Type::Bool, where, x.node, y.node));
}

Value Arithmetic::invert(const Value& a, const SourceRange& where) {
  const Value x = condition(a, where);
  if (x.poison()) return {};
  if (x.constant) return constant_bool(!x.truth);
  if (nodes_[x.node].fn == Fn::Not) return node_value(Kind::Bool, nodes_[x.node].a);
  return node_value(Kind::Bool, nodes_.make(Fn::Not, Type::Bool, where, x.node));
}

Value Arithmetic::choose(const Value& asked, const Value& yes, const Value& no, Context ctx,
                         const SourceRange& where) {
  const Value c = condition(asked, where);
  if (c.poison() || yes.poison() || no.poison()) return {};
  if (c.constant) return c.truth ? yes : no;
  if (yes.has_parts() || no.has_parts()) {
    const Value first = promoted(no.shape(), yes, ctx, where);
    const Value second = promoted(yes.shape(), no, ctx, where);
    if (!has_shape(first.shape(), second, where)) return {};
    std::vector<Value> parts;
    for (std::size_t k = 0; k < first.parts.size(); ++k)
      parts.push_back(choose(c, first.parts[k], second.parts[k], ctx, where));
    return value_of_parts(first.shape(), std::move(parts));
  }
  if ((yes.kind == Kind::Bool) != (no.kind == Kind::Bool)) {
    error(Code::WrongType, where, "one alternative is a number, the other a condition");
    return {};
  }
  if (yes.kind == Kind::Bool) {
    const Value first = both(c, yes, where);
    return either(first, both(invert(c, where), no, where), where);
  }
  const bool ints = yes.kind == Kind::Int && no.kind == Kind::Int;
  const bool is_any_fixed =
      !yes.constant || !no.constant || yes.fixed_int || no.fixed_int || ctx.want_int;
  if (ints && is_any_fixed) {
    const NodeId x = int_node(yes, where);
    const NodeId y = int_node(no, where);
    if (x == y) return yes;
    return node_value(Kind::Int, nodes_.make(Fn::Select, Type::Int, where, c.node, x, y));
  }
  return exact(Fn::Select, c, yes, no, ctx.wide || yes.wide || no.wide, where);
}

std::vector<std::pair<int, int>> addition_chain(int n) {
  for (std::size_t limit = 0;; ++limit) {
    std::vector<int> chain{1};
    std::vector<std::pair<int, int>> steps;
    if (extend(chain, steps, limit, n)) return steps;
  }
}

Value Arithmetic::whole_power(const Value& base, int n, Context ctx, const SourceRange& where) {
  auto& chain = chains_[n];
  if (chain.empty() && n > 1) chain = addition_chain(n);
  std::vector<Value> made{base};
  for (const auto& [a, b] : chain)
    made.push_back(combine(Fn::Mul, made[index(a)], made[index(b)], ctx, where));
  return made.back();
}

Value Arithmetic::power(const Value& base, const Value& exponent, Context ctx,
                        const SourceRange& where) {
  if (base.poison() || exponent.poison()) return {};
  const double doubled = 2 * exponent.number;
  const bool whole = exponent.constant && exponent.number == std::trunc(exponent.number) &&
                     std::fabs(exponent.number) <= largest_exponent;
  if (base.shape() == Shape::Complex && whole) {
    const int n = static_cast<int>(exponent.number);
    if (n == 0) return complex_of(constant_int(1));
    const Value x = n < 0 ? combine(Fn::Div, constant_int(1), base, ctx, where) : base;
    return whole_power(x, std::abs(n), ctx, where);
  }
  if (!arithmetic_operand(base, where) || !arithmetic_operand(exponent, where)) return {};
  if (!exponent.constant || doubled != std::trunc(doubled) ||
      std::fabs(exponent.number) > largest_exponent)
    return round2(Fn::Pow, base, exponent, ctx, where);
  const int halves = static_cast<int>(doubled);
  if (base.constant && !(base.kind == Kind::Int && halves > 0 && halves % 2 == 0))
    return known(std::pow(base.number, exponent.number), base.wide, where);
  Value x = base;
  if (x.kind == Kind::Int && !x.constant)
    x = convert(ctx.wide ? Type::Long : Type::Short, x, where);
  x.wide = base.wide;
  if (halves == 0) return constant_int(1);
  if (halves == -2) return round1(Fn::Reciprocal, x, ctx, where);
  if (halves % 2 == 0) {
    if (halves < 0) x = round1(Fn::Reciprocal, x, ctx, where);
    return whole_power(x, std::abs(halves) / 2, ctx, where);
  }
  if (halves < 0) return whole_power(round1(Fn::Rsqrt, x, ctx, where), -halves, ctx, where);
  const Value root = round1(Fn::Sqrt, x, ctx, where);
  if (halves == 1) return root;
  return combine(Fn::Mul, whole_power(x, halves / 2, ctx, where), root, ctx, where);
}

}  // namespace gdr::kc::front
