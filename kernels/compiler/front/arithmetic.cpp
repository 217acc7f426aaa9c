#include "kernels/compiler/front/arithmetic.hpp"

#include <cmath>
#include <limits>

namespace gdr::kc::front {
namespace {

constexpr std::int64_t int_limit = std::int64_t{1} << 35;  // signed 36-bit word

/// Whether a short represents it exactly.
bool fits_short(double x) noexcept {
  int exponent = 0;
  const double scaled = std::ldexp(std::frexp(x, &exponent), 25);
  return scaled == std::trunc(scaled) && (x == 0 || exponent > -1022);
}

Fn function_of(TokenKind op) noexcept {
  return op == TokenKind::Plus    ? Fn::Add
         : op == TokenKind::Minus ? Fn::Sub
         : op == TokenKind::Star  ? Fn::Mul
                                  : Fn::Div;
}

double compute(Fn fn, double a, double b) noexcept {
  switch (fn) {
    case Fn::Add:
      return a + b;
    case Fn::Sub:
      return a - b;
    case Fn::Mul:
      return a * b;
    case Fn::Div:
      return a / b;
    case Fn::Sqrt:
      return std::sqrt(a);
    case Fn::Rsqrt:
      return 1 / std::sqrt(a);
    case Fn::Reciprocal:
      return 1 / a;
    default:
      return std::exp(a);
  }
}

/// The integer result; false if there is none.
bool compute(TokenKind op, std::int64_t a, std::int64_t b, std::int64_t& out) noexcept {
  if (op == TokenKind::Plus) return !__builtin_add_overflow(a, b, &out);
  if (op == TokenKind::Minus) return !__builtin_sub_overflow(a, b, &out);
  if (op == TokenKind::Star) return !__builtin_mul_overflow(a, b, &out);
  if (b == 0 || b == -1 || a % b != 0) return false;
  out = a / b;
  return true;
}

}  // namespace

bool Arithmetic::is_long(const Value& a) const {
  return !a.constant && a.kind == Kind::Number && nodes_[a.node].type == Type::Long;
}

NodeId Arithmetic::number_node(const Value& a, Type type, const SourceRange& where) {
  if (!a.constant) {
    if (a.kind == Kind::Number) return a.node;
    return nodes_.make(Fn::Convert, type, where, a.node);
  }
  Node n;
  n.fn = Fn::Constant;
  n.type = fits_short(a.number) ? Type::Short : type;
  n.number = a.number;
  n.where = where;
  return nodes_.node(n);
}

NodeId Arithmetic::int_node(const Value& a, const SourceRange& where) {
  if (!a.constant) return a.node;
  check_int(a, where);
  Node n;
  n.fn = Fn::Constant;
  n.type = Type::Int;
  n.integer = a.integer;
  n.where = where;
  return nodes_.node(n);
}

bool Arithmetic::check_int(const Value& a, const SourceRange& where) {
  if (a.integer >= -int_limit && a.integer < int_limit) return true;
  messages_.error(Code::NoValue, where,
                  std::to_string(a.integer) + " exceeds the 36 bits of an int");
  return false;
}

/// A constant that was computed from constants.
Value Arithmetic::known(double x, bool wide, const SourceRange& where) {
  if (std::isfinite(x)) return constant_number(x, wide);
  messages_.error(Code::NoValue, where, "the expression is not a finite number",
                  std::isnan(x) ? "not a number" : "infinite");
  return {};
}

bool Arithmetic::arithmetic_operand(const Value& a, const SourceRange& where) {
  if (a.kind != Kind::Bool) return !a.poison();
  messages_.error(Code::WrongType, where, "a condition cannot be used as a number", {},
                  "use `condition ? 1 : 0`");
  return false;
}

Value Arithmetic::combine(TokenKind op, const Value& a, const Value& b, Context ctx,
                          const SourceRange& where) {
  if (!arithmetic_operand(a, where) || !arithmetic_operand(b, where)) return {};
  if (a.kind == Kind::Int && b.kind == Kind::Int) return combine_ints(op, a, b, ctx, where);
  const bool wide = ctx.wide || a.wide || b.wide;
  const Fn fn = function_of(op);
  if (a.constant && b.constant)
    return known(compute(fn, a.number, b.number), a.wide || b.wide, where);
  const Type type = wide ? Type::Long : Type::Short;
  const NodeId left = number_node(a, type, where);
  return node_value(Kind::Number, nodes_.make(fn, type, where, left, number_node(b, type, where)),
                    wide);
}

Value Arithmetic::combine_ints(TokenKind op, const Value& a, const Value& b, Context ctx,
                               const SourceRange& where) {
  if (a.constant && b.constant) {
    std::int64_t result = 0;
    if (!compute(op, a.integer, b.integer, result))
      return known(compute(function_of(op), a.number, b.number), ctx.wide, where);
    Value v = constant_int(result);
    v.fixed_int = a.fixed_int || b.fixed_int;
    return v;
  }
  if (op == TokenKind::Plus || op == TokenKind::Minus) {
    const NodeId left = int_node(a, where);
    return node_value(Kind::Int,
                      nodes_.make(function_of(op), Type::Int, where, left, int_node(b, where)));
  }
  if (op == TokenKind::Star && a.constant) return times_constant(b, a.integer, where);
  if (op == TokenKind::Star && b.constant) return times_constant(a, b.integer, where);
  messages_.error(
      Code::WrongType, where,
      op == TokenKind::Star ? "ints can only be multiplied by constants" : "ints cannot be divided",
      {}, "convert them to numbers: short(n) or long(n)");
  return {};
}

/// n times a constant, by doubling and adding: the machine has no integer multiplication.
Value Arithmetic::times_constant(const Value& a, std::int64_t factor, const SourceRange& where) {
  if (factor < -int_limit || factor > int_limit) {
    messages_.error(Code::NoValue, where, "the product exceeds the 36 bits of an int");
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
  if (a.constant) return known(compute(fn, a.number, 0), a.wide, where);
  const bool wide = ctx.wide || a.wide;
  const Type type = wide ? Type::Long : Type::Short;
  return node_value(Kind::Number, nodes_.make(fn, type, where, number_node(a, type, where)), wide);
}

/// Abs, Min, Max and Select of numbers: keep the type of the operands, so that nothing is rounded.
Value Arithmetic::exact(Fn fn, const Value& condition, const Value& a, const Value& b, bool wide,
                        const SourceRange& where) {
  const bool unary = b.poison();
  const Type wanted = wide || is_long(a) || is_long(b) ? Type::Long : Type::Short;
  const NodeId x = number_node(a, wanted, where);
  const NodeId y = unary ? no_node : number_node(b, wanted, where);
  const bool is_any_long = nodes_[x].type == Type::Long || (!unary && nodes_[y].type == Type::Long);
  const Type type = is_any_long ? Type::Long : Type::Short;
  if (fn != Fn::Select && unary)
    return node_value(Kind::Number, nodes_.make(fn, type, where, x), wide);
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
    const Value negative = less(a, constant_int(0), where);
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
    const Value a_first = less(a, b, where);
    return minimum ? choose(a_first, a, b, ctx, where) : choose(a_first, b, a, ctx, where);
  }
  return exact(fn, {}, a, b, ctx.wide || a.wide || b.wide, where);
}

Value Arithmetic::convert(Type type, const Value& a, const SourceRange& where) {
  if (a.poison()) return {};
  if (type == Type::Bool) return condition(a, where);
  if (!arithmetic_operand(a, where)) return {};
  Value v = a;
  if (type == Type::Int) {
    if (a.constant && a.number == std::trunc(a.number) && std::fabs(a.number) < 0x1p62)
      v = constant_int(a.kind == Kind::Int ? a.integer : static_cast<std::int64_t>(a.number));
    v.fixed_int = true;
    if (v.constant_int() && !check_int(v, where)) return {};
    if (v.kind == Kind::Int) return v;
    messages_.error(Code::IntegerNeeded, where, "a number cannot be converted to an int", {},
                    "ints are int inputs, integer literals, and their sums and differences");
    return {};
  }
  v.wide = type == Type::Long;
  v.kind = Kind::Number;
  v.fixed_int = false;
  if (a.constant) return v;
  const bool rounds = type == Type::Short && nodes_[a.node].type == Type::Long;
  if (a.kind == Kind::Int || rounds) v.node = nodes_.make(Fn::Convert, type, where, a.node);
  return v;
}

}  // namespace gdr::kc::front
