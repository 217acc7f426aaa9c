// Evaluation of expressions.
#include "kernels/compiler/front/builder.hpp"

namespace gdr::kc::front {

Value Builder::evaluate(ExprId id, Context ctx) {
  const Expr& e = expr(id);
  if (!charge(operations_, max_operations, e.where,
              "its loops and functions evaluate too many expressions"))
    return {};
  if (nodes_.size() > max_nodes)
    return too_large(e.where, "more than a million operations"), Value{};
  if (depth_ >= max_evaluation_depth) {
    messages_.error(Code::NestedTooDeeply, e.where, "expressions and calls are nested too deeply");
    return {};
  }
  ++depth_;
  const Value v = evaluate_kind(e, ctx);
  --depth_;
  return v;
}

Value Builder::evaluate_kind(const Expr& e, Context ctx) {
  switch (e.kind) {
    case ExprKind::Literal:
      return e.literal.integral ? constant_int(e.literal.integer)
                                : constant_number(e.literal.number);
    case ExprKind::Name:
      return read_name(e);
    case ExprKind::Call:
      return call(e, ctx);
    case ExprKind::Unary: {
      const Value v = evaluate(e.operands[0].expr, ctx);
      if (e.op == TokenKind::Not) return arithmetic_.invert(v, e.where);
      if (e.op == TokenKind::Minus) return arithmetic_.negate(v, e.where);
      // A plus sign only requires a number; negate() reports conditions.
      return v.kind == Kind::Bool ? arithmetic_.negate(v, e.where) : v;
    }
    case ExprKind::Chain:
      return chain(e, ctx);
    case ExprKind::Power: {
      const Value base = evaluate(e.operands[0].expr, ctx);
      return arithmetic_.power(base, evaluate(e.operands[1].expr, {}), ctx, e.where);
    }
    case ExprKind::Choice:
      return choice(e, ctx);
    case ExprKind::Bad:
      break;
  }
  return {};
}

Value Builder::chain(const Expr& e, Context ctx) {
  Value left = evaluate(e.operands[0].expr, ctx);
  SourceRange where = expr(e.operands[0].expr).where;
  for (std::size_t i = 1; i < e.operands.size(); ++i) {
    const auto [operand, op] = e.operands[i];
    where = joined(where, expr(operand).where);
    const bool logic = op == TokenKind::AndAnd || op == TokenKind::OrOr;
    // A constant decides: the right operand may be invalid.
    if (logic && left.constant && left.kind == Kind::Bool && left.truth == (op == TokenKind::OrOr))
      continue;
    const Value right = evaluate(operand, ctx);
    if (op == TokenKind::AndAnd)
      left = arithmetic_.both(left, right, where);
    else if (op == TokenKind::OrOr)
      left = arithmetic_.either(left, right, where);
    else if (op == TokenKind::Plus || op == TokenKind::Minus || op == TokenKind::Star ||
             op == TokenKind::Slash)
      left = arithmetic_.combine(op, left, right, ctx, where);
    else
      left = arithmetic_.compare(op, left, right, where);
  }
  return left;
}

Value Builder::choice(const Expr& e, Context ctx) {
  const Value c = arithmetic_.condition(evaluate(e.operands[0].expr, {wide_, false}),
                                        expr(e.operands[0].expr).where);
  if (c.constant) return evaluate(e.operands[c.truth ? 1 : 2].expr, ctx);
  const Value yes = evaluate(e.operands[1].expr, ctx);
  const Value no = evaluate(e.operands[2].expr, ctx);
  return arithmetic_.choose(c, yes, no, ctx, e.where);
}

}  // namespace gdr::kc::front
