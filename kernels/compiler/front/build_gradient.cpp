// grad(expression, variable): the derivative of a number as an expression like any other.
#include <algorithm>

#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/builder.hpp"
#include "kernels/compiler/front/derivative.hpp"

namespace gdr::kc::front {
namespace {

using assembly::in_quotes;

/// Whether a value is a variable of numbers: nothing can be differentiated with respect to others.
bool is_variable(const Value& v) {
  if (!v.has_parts()) return v.kind == Kind::Number && !v.constant;
  return std::ranges::all_of(v.parts, is_variable);
}

}  // namespace

Value Builder::gradient(const Expr& e, Context ctx) {
  if (e.operands.size() != 2) {
    error(Code::ArgumentCount, e.where, in_quotes(e.name) + " takes two arguments")
        .label(std::to_string(e.operands.size()) + " are given")
        .help("a number and a variable: `grad(u, x)`");
    for (const ExprOperand& o : e.operands) evaluate(o.expr, ctx);
    return {};
  }
  const Value number = evaluate(e.operands[0].expr, ctx);
  const Expr& by = expr(e.operands[1].expr);
  const Value variable = evaluate(e.operands[1].expr, {});
  if (number.poison() || variable.poison()) return {};
  if (!arithmetic_.has_shape(Shape::Scalar, number, expr(e.operands[0].expr).where)) return {};
  if (number.kind == Kind::Bool) return arithmetic_.negate(number, e.where);  // reports it
  if ((by.kind != ExprKind::Name && by.kind != ExprKind::Component) || !is_variable(variable)) {
    const bool integer = variable.kind == Kind::Int && !variable.constant;
    error(Code::NotAVariable, by.where, "a number cannot be differentiated with respect to this")
        .label(integer                       ? "an int"
               : variable.kind == Kind::Bool ? "a condition"
                                             : "not a variable")
        .help("name an input, a parameter or a temporary that is not a constant");
    return {};
  }
  if (number.constant || number.kind == Kind::Int) return zero_of(variable.shape());
  Derivative derivative(nodes_, arithmetic_, ctx, e.where);
  const std::vector<Value> parts =
      variable.has_parts() ? variable.parts : std::vector<Value>{variable};
  for (const Value& part : parts) derivative.respect_to(part.node);
  derivative.differentiate(number.node, constant_int(1), constant_bool(true));
  operations_ += derivative.run();
  std::vector<Value> slopes;
  for (const Value& part : parts) slopes.push_back(derivative.number_of(part.node));
  return variable.has_parts() ? value_of_parts(variable.shape(), std::move(slopes)) : slopes[0];
}

}  // namespace gdr::kc::front
