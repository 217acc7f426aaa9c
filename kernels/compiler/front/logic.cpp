// Comparisons, conditions and selections.
#include "kernels/compiler/front/arithmetic.hpp"

namespace gdr::kc::front {

Value Arithmetic::condition(const Value& a, const SourceRange& where) {
  if (a.kind == Kind::Bool || a.poison()) return a;
  messages_.error(Code::WrongType, where, "a condition is required, but this is a number", {},
                  "use a comparison, for example `x != 0`");
  return {};
}

Value Arithmetic::compare_nodes(Fn fn, const Value& a, const Value& b, const SourceRange& where) {
  if (a.kind == Kind::Int && b.kind == Kind::Int) {
    const NodeId left = int_node(a, where);
    return node_value(Kind::Bool, nodes_.make(fn, Type::Bool, where, left, int_node(b, where)));
  }
  // Comparisons do not round: an Int becomes a long.
  const bool is_any_long =
      is_long(a) || is_long(b) || a.wide || b.wide || a.kind == Kind::Int || b.kind == Kind::Int;
  const Type type = is_any_long ? Type::Long : Type::Short;
  const NodeId left = number_node(a, type, where);
  return node_value(Kind::Bool,
                    nodes_.make(fn, Type::Bool, where, left, number_node(b, type, where)));
}

Value Arithmetic::less(const Value& a, const Value& b, const SourceRange& where) {
  if (a.constant_int() && b.constant_int()) return constant_bool(a.integer < b.integer);
  if (a.constant && b.constant) return constant_bool(a.number < b.number);
  return compare_nodes(Fn::Less, a, b, where);
}

Value Arithmetic::equal(const Value& a, const Value& b, const SourceRange& where) {
  if (a.constant_int() && b.constant_int()) return constant_bool(a.integer == b.integer);
  if (a.constant && b.constant) return constant_bool(a.number == b.number);
  return compare_nodes(Fn::Equal, a, b, where);
}

Value Arithmetic::compare(TokenKind op, const Value& a, const Value& b, const SourceRange& where) {
  if (a.poison() || b.poison()) return {};
  if (a.kind == Kind::Bool || b.kind == Kind::Bool) {
    messages_.error(Code::WrongType, where, "conditions cannot be compared", {},
                    "combine conditions with && and ||: `a < b && b < c`");
    return {};
  }
  const bool ints = a.kind == Kind::Int && b.kind == Kind::Int;
  switch (op) {
    case TokenKind::Less:
      return less(a, b, where);
    case TokenKind::Greater:
      return less(b, a, where);
    case TokenKind::EqualEqual:
      return equal(a, b, where);
    case TokenKind::NotEqual:
      return invert(equal(a, b, where), where);
    case TokenKind::LessEqual:
      // not (b < a) is true for NaN.
      if (ints) return invert(less(b, a, where), where);
      return either(less(a, b, where), equal(a, b, where), where);
    default:
      if (ints) return invert(less(a, b, where), where);
      return either(less(b, a, where), equal(a, b, where), where);
  }
}

Value Arithmetic::both(const Value& a, const Value& b, const SourceRange& where) {
  const Value x = condition(a, where);
  const Value y = condition(b, where);
  if (x.poison() || y.poison()) return {};
  if (x.constant) return x.truth ? y : x;
  if (y.constant) return y.truth ? x : y;
  if (x.node == y.node) return x;
  return node_value(Kind::Bool, nodes_.make(Fn::And, Type::Bool, where, x.node, y.node));
}

Value Arithmetic::either(const Value& a, const Value& b, const SourceRange& where) {
  const Value x = condition(a, where);
  const Value y = condition(b, where);
  if (x.poison() || y.poison()) return {};
  if (x.constant) return x.truth ? x : y;
  if (y.constant) return y.truth ? y : x;
  if (x.node == y.node) return x;
  return node_value(Kind::Bool, nodes_.make(Fn::Or, Type::Bool, where, x.node, y.node));
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
  if ((yes.kind == Kind::Bool) != (no.kind == Kind::Bool)) {
    messages_.error(Code::WrongType, where, "one alternative is a number, the other a condition");
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

}  // namespace gdr::kc::front
