// Expressions: names, indices, calls of built-in functions and of the kernel's own, which are
// inlined.
#include <algorithm>
#include <cmath>
#include <utility>

#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/builder.hpp"
#include "kernels/compiler/ir/function.hpp"

namespace gdr::kc::front {
namespace {

using assembly::in_quotes;

std::vector<ExprId> indices_of(const Expr& e) {
  std::vector<ExprId> indices;
  for (const ExprOperand& o : e.operands) indices.push_back(o.expr);
  return indices;
}

struct Operator {
  std::string_view text;
  Fn fn;
};
constexpr Operator operators[] = {{"+", Fn::Add}, {"-", Fn::Sub}, {"*", Fn::Mul}, {"/", Fn::Div}};

std::string count_text(std::size_t count) {
  return count == 1   ? "one argument"
         : count == 0 ? "no argument"
                      : std::to_string(count) + " arguments";
}

}  // namespace

Value Builder::evaluate(ExprId id, Context ctx) {
  const Expr& e = expr(id);
  if (!charge(operations_, max_operations, e.where,
              "its loops and functions evaluate too many expressions"))
    return {};
  if (nodes_.size() > max_nodes)
    return too_large(e.where, "more than a million operations"), Value{};
  if (depth_ >= max_evaluation_depth) {
    error(Code::NestedTooDeeply, e.where, "expressions and calls are nested too deeply");
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
    case ExprKind::Component:
      return arithmetic_.component(evaluate(e.operands[0].expr, ctx), e.name, e.where);
    case ExprKind::Unary: {
      const Value v = evaluate(e.operands[0].expr, ctx);
      if (e.op == "!") return arithmetic_.invert(v, e.where);
      if (e.op == "-") return arithmetic_.negate(v, e.where);
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
    const bool logic = op == "&&" || op == "||";
    // A constant decides: the right operand may be invalid.
    if (logic && left.constant && left.kind == Kind::Bool && left.truth == (op == "||")) continue;
    const Value right = evaluate(operand, ctx);
    if (op == "&&")
      left = arithmetic_.both(left, right, where);
    else if (op == "||")
      left = arithmetic_.either(left, right, where);
    else if (op == "%")
      left = arithmetic_.remainder(left, right, where);
    else if (const auto* known = std::ranges::find(operators, op, &Operator::text);
             known != std::end(operators))
      left = arithmetic_.combine(known->fn, left, right, ctx, where);
    else
      left = arithmetic_.compare(op, left, right, where);
  }
  return left;
}

Value Builder::choice(const Expr& e, Context ctx) {
  const Value c = test(e.operands[0].expr);
  if (c.constant) return evaluate(e.operands[c.truth ? 1 : 2].expr, ctx);
  const Value yes = evaluate(e.operands[1].expr, ctx);
  const Value no = evaluate(e.operands[2].expr, ctx);
  return arithmetic_.choose(c, yes, no, ctx, e.where);
}

Value Builder::read_name(const Expr& e) {
  Name* n = find(e.name);
  if (n == nullptr) return unknown_name(e);
  if (n->kind == NameKind::Table) return read_table(*n, e);
  if (n->kind != NameKind::Result && n->kind != NameKind::List) {
    std::vector<ExprId> indices = indices_of(e);
    if (!has_component_index(*n, indices)) return read_element(*n, indices, e.where);
    const auto k = component_index(*n, indices.back());
    indices.pop_back();
    const Value whole = read_element(*n, indices, e.where);
    return !k || whole.poison() ? Value{} : whole.parts[*k];
  }
  const bool list = n->kind == NameKind::List;
  error(Code::ResultRead, e.where,
        std::string(list ? "the list " : "the result ") + in_quotes(n->name) + " cannot be read")
      .help(list
                ? "only the host can read it; use a sum for a count"
                : "it is a sum over all sources; use a temporary for the contribution of this pair")
      .note(n->where, "declared here");
  return {};
}

Value Builder::read_element(Name& n, const std::vector<ExprId>& indices, const SourceRange& where) {
  if (n.kind == NameKind::Input) return read_input(n, indices, where);
  if (n.kind == NameKind::Temporary) return read_temporary(n, indices, where);
  if (n.value.poison()) return {};
  return !indices.empty() && !element(n, {none}, where) ? Value{} : n.value;
}

/// Whether the last index is that of a component: `x[0]` of a vector x.
bool Builder::has_component_index(const Name& n, const std::vector<ExprId>& indices) {
  const std::size_t wanted = n.growing ? 1 : n.sizes.size();
  if (indices.size() != wanted + 1) return false;
  return is_vector(shape_of(n));
}

/// The shape of a name's values: as declared, else that of its first value.
Shape Builder::shape_of(const Name& n) {
  if (n.kind == NameKind::Constant) return n.value.shape();
  if (n.kind != NameKind::Temporary || n.declared) return n.shape;
  if (n.growing && n.elements.empty()) return Shape::Scalar;
  return slot(n.growing ? n.elements.begin()->second : n.first).value.shape();
}

std::optional<std::uint32_t> Builder::component_index(const Name& n, ExprId index) {
  const auto k = constant_integer(index, "the index of a component");
  const std::int64_t count = info(shape_of(n)).count;
  if (!k || !in_range(n, *k, count, expr(index).where)) return std::nullopt;
  return static_cast<std::uint32_t>(*k);
}

Value Builder::unknown_name(const Expr& e) {
  const auto later = assigned_somewhere_.find(e.name);
  if (later != assigned_somewhere_.end() && local_ == nullptr) {
    error(Code::NotAssigned, e.where, in_quotes(e.name) + " is read before it is assigned")
        .note(later->second, "assigned here");
    return {};
  }
  if (e.name == "identity" && e.operands.empty()) return unit_tensor();
  assembly::Suggestion suggestion(e.name);
  for (const Scope* scope : {local_, &global_}) {
    if (scope == nullptr || !messages_.below_limit()) continue;
    for (const auto& [name, n] : *scope) {
      const bool hidden = local_ != nullptr && scope == &global_ && n->kind == NameKind::Temporary;
      if (!hidden && n->kind != NameKind::Result && n->kind != NameKind::List)
        suggestion.consider(name);
    }
  }
  error(Code::UnknownName, e.where, in_quotes(e.name) + " is not declared")
      .help(!suggestion.best().empty() ? suggestion.help()
            : local_ != nullptr ? "a function sees its parameters, inputs and constants, but not "
                                  "the kernel's temporaries"
                                : "declare it, or assign it first");
  return {};
}

Value Builder::test(ExprId id) {
  return arithmetic_.condition(evaluate(id, {wide_, false}), expr(id).where);
}

Value Builder::int_value(ExprId id) {
  return arithmetic_.convert(Type::Int, evaluate(id, {false, true}), expr(id).where);
}

std::optional<double> Builder::constant_value(ExprId id, const char* what) {
  const Value v = evaluate(id, {});
  if (v.poison()) return std::nullopt;
  if (v.constant && v.kind != Kind::Bool) return v.number;
  error(Code::ConstantNeeded, expr(id).where,
        std::string(what) + " must be a compile-time constant")
      .help("constants consist of literals, `CONST name = ...;` and loop variables");
  return std::nullopt;
}

std::optional<std::int64_t> Builder::constant_integer(ExprId id, const char* what) {
  const std::optional<double> x = constant_value(id, what);
  if (!x) return std::nullopt;
  if (*x == std::trunc(*x) && std::fabs(*x) < 0x1p53) return static_cast<std::int64_t>(*x);
  error(Code::IntegerNeeded, expr(id).where, std::string(what) + " must be an integer");
  return std::nullopt;
}

/// Reports an error and returns false if an index is out of range.
bool Builder::in_range(const Name& n, std::int64_t at, std::int64_t size,
                       const SourceRange& where) {
  if (at >= 0 && at < size) return true;
  error(Code::IndexRange, where,
        "the index " + std::to_string(at) + " is out of range for " + in_quotes(n.name))
      .label("from 0 to " + std::to_string(size - 1))
      .note(n.where, "declared here");
  return false;
}

std::optional<std::int64_t> Builder::element(const Name& n, const std::vector<ExprId>& indices,
                                             const SourceRange& where) {
  const std::size_t wanted = n.growing ? 1 : n.sizes.size();
  if (indices.size() != wanted) {
    const std::string has = wanted == 0   ? "no index"
                            : wanted == 1 ? "1 index"
                                          : std::to_string(wanted) + " indices";
    error(Code::IndexCount, where, in_quotes(n.name) + " takes " + has)
        .note(n.where, "declared here");
    return std::nullopt;
  }
  std::int64_t number = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto index = constant_integer(indices[i], "the index of an array");
    if (!index) return std::nullopt;
    const auto size = n.growing ? static_cast<std::int64_t>(max_array_elements) : n.sizes[i];
    if (!in_range(n, *index, size, expr(indices[i]).where)) return std::nullopt;
    number = number * size + *index;
  }
  return number;
}

/// An Input, or a Lookup at an index.
Value Builder::read_variable(Fn fn, std::int32_t variable, NodeId at, const SourceRange& where) {
  const Type type = graph_.variable(variable).type;
  return node_value(
      type == Type::Int ? Kind::Int : Kind::Number,
      nodes_.node({.fn = fn, .type = type, .a = at, .variable = variable, .where = where}));
}

Value Builder::read_input(Name& n, const std::vector<ExprId>& indices, const SourceRange& where) {
  n.used = true;
  const auto number = element(n, indices, where);
  if (!number) return {};
  const std::int32_t first = n.first + static_cast<std::int32_t>(*number) * n.components();
  if (n.shape == Shape::Scalar) return read_variable(Fn::Input, first, no_node, where);
  std::vector<Value> parts;
  for (std::int32_t k = 0; k < n.components(); ++k)
    parts.push_back(read_variable(Fn::Input, first + k, no_node, where));
  return value_of_parts(n.shape, std::move(parts));
}

/// `t[i]`, or `t[i][j]` for element i*columns + j.
Value Builder::read_table(Name& n, const Expr& e) {
  n.used = true;
  if (e.operands.size() != n.sizes.size()) {
    element(n, indices_of(e), e.where);
    return {};
  }
  Value at = constant_int(0);
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    const SourceRange& where = expr(e.operands[i].expr).where;
    const Value index = int_value(e.operands[i].expr);
    if (index.poison()) return {};
    if (index.constant && !in_range(n, index.integer, n.sizes[i], where)) return {};
    if (i == 0) {
      at = index;
      continue;
    }
    at = arithmetic_.combine(Fn::Mul, at, constant_int(n.sizes[i]), {}, where);
    at = arithmetic_.combine(Fn::Add, at, index, {}, where);
  }
  if (at.poison()) return {};
  return read_variable(Fn::Lookup, n.first, arithmetic_.int_node(at, e.where), e.where);
}

Value Builder::read_temporary(Name& n, const std::vector<ExprId>& indices,
                              const SourceRange& where) {
  const auto number = element(n, indices, where);
  if (!number) return {};
  std::int32_t at = n.first + static_cast<std::int32_t>(*number);
  if (n.growing) {
    const auto it = n.elements.find(*number);
    at = it == n.elements.end() ? none : it->second;
  }
  const SlotState state = at == none ? SlotState::Unassigned : slot(at).state;
  if (state == SlotState::Assigned) {
    mark_read(slot(at).definition);
    return slot(at).value;
  }
  const std::string what = n.sizes.empty() && !n.growing
                               ? in_quotes(n.name)
                               : "element " + std::to_string(*number) + " of " + in_quotes(n.name);
  if (state == SlotState::Unassigned) {
    error(Code::NotAssigned, where, what + " is read before it is assigned");
    return {};
  }
  mark_read(slot(at).definition);
  error(Code::PartlyAssigned, where, what + " is assigned under a condition only")
      .help("assign it before the `if`, or in both branches")
      .note(slot(at).where, "assigned here");
  return {};
}

void Builder::check_functions() {
  for (const Function& f : program_.functions) {
    if (find_function(f.name) != nullptr) {
      error(Code::NameReserved, f.where, in_quotes(f.name) + " is a built-in function");
      continue;
    }
    const auto [it, is_new] = functions_.try_emplace(f.name, &f);
    if (!is_new) {
      error(Code::NameTaken, f.where, "the function " + in_quotes(f.name) + " is already defined")
          .note(it->second->where, "defined here");
    }
    if (f.body == none) continue;
    bool returns = false;
    for (const std::int32_t id : program_.block(f.body)) {
      const Statement& s = program_.statement(id);
      returns = s.kind == StatementKind::Return;
      if (returns && id != program_.block(f.body).back())
        error(Code::Misplaced, s.where, "`return` must be the last statement of a function");
    }
    if (!returns)
      error(Code::ReturnMissing, f.where,
            "the function " + in_quotes(f.name) + " has no return statement")
          .help("end it with `return expression;`");
  }
}

Value Builder::call(const Expr& e, Context ctx) {
  if (find_function(e.name) != nullptr) return call_builtin(e, ctx);
  const auto it = functions_.find(e.name);
  if (it != functions_.end()) return call_function(*it->second, e, ctx);
  if (e.name == gradient_name) return gradient(e, ctx);
  if (is_vector_function(e.name))
    return call_vector_function(e.name, arithmetic_, messages_, arguments_of(e, ctx), ctx, e.where);
  assembly::Suggestion suggestion(e.name);
  for (const kc::Function* f : all_functions()) suggestion.consider(f->name);
  for (const std::string_view name : vector_function_names()) suggestion.consider(name);
  suggestion.consider(gradient_name);
  if (messages_.below_limit())
    for (const auto& [name, f] : functions_) suggestion.consider(name);
  error(Code::UnknownFunction, e.where, in_quotes(e.name) + " is not a function")
      .help(suggestion.help());
  for (const ExprOperand& o : e.operands) evaluate(o.expr, ctx);
  return {};
}

Arguments Builder::arguments_of(const Expr& e, Context ctx) {
  Arguments values;
  for (const ExprOperand& o : e.operands) values.push_back(evaluate(o.expr, ctx));
  return values;
}

Value Builder::call_builtin(const Expr& e, Context ctx) {
  const kc::Function& f = *find_function(e.name);
  Context inner = ctx;
  if (f.name == "long") inner.wide = true;
  if (f.name == "short") inner.wide = false;
  const Arguments a = arguments_of(e, inner);
  if (a.size() != f.count()) {
    error(Code::ArgumentCount, e.where, in_quotes(f.name) + " takes " + count_text(f.count()))
        .label(std::to_string(a.size()) + " are given");
    return {};
  }
  if (std::ranges::any_of(a, &Value::has_parts) && has_vector_form(f.name, a))
    return call_vector_function(f.name, arithmetic_, messages_, a, ctx, e.where);
  if (f.call != nullptr) return f.call({arithmetic_, a, ctx, e.where});
  return a.size() == 1 ? arithmetic_.round1(f.fn, a[0], ctx, e.where)
                       : arithmetic_.round2(f.fn, a[0], a[1], ctx, e.where);
}

/// Reports an error and returns false if the call is invalid.
bool Builder::can_call(const Function& f, const Expr& e) {
  if (e.operands.size() != f.parameters.size()) {
    error(Code::ArgumentCount, e.where,
          in_quotes(f.name) + " takes " + count_text(f.parameters.size()))
        .label(std::to_string(e.operands.size()) + " are given")
        .note(f.where, "defined here");
    return false;
  }
  if (std::ranges::find(calls_, &f) != calls_.end()) {
    error(Code::Recursion, e.where, in_quotes(f.name) + " calls itself")
        .label("recursion is not supported");
    return false;
  }
  if (calls_.size() < index(max_call_depth)) return true;
  error(Code::NestedTooDeeply, e.where, "calls are nested too deeply");
  return false;
}

/// Parameters are temporaries with an initial value.
void Builder::bind(const Function& f, const Expr& e, const Arguments& values, Context ctx) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Parameter& p = f.parameters[i];
    if (!is_free(p.name, p.where)) continue;
    const SourceRange& where = expr(e.operands[i].expr).where;
    const Shape shape = p.declared ? p.declared->shape : Shape::Scalar;
    Value v = arithmetic_.promoted(shape, values[i], ctx, where);
    if (p.declared && !arithmetic_.has_shape(p.declared->shape, v, where)) v = {};
    if (p.declared && p.declared->type)
      v = arithmetic_.convert(*p.declared->type, v, where);
    else if (ctx.wide)
      widen(v);
    Name& n = add_name(NameKind::Temporary, p.name, p.where);
    n.declared = p.declared.has_value();
    if (p.declared) {
      n.type = p.declared->type;
      n.shape = p.declared->shape;
    }
    n.first = new_slot();
    slot(n.first) = {SlotState::Assigned, v, false, none, p.where};
  }
}

Value Builder::call_function(const Function& f, const Expr& e, Context ctx) {
  const Arguments values = arguments_of(e, ctx);
  if (f.body == none || !can_call(f, e)) return {};
  Scope scope;
  Scope* const outer = std::exchange(local_, &scope);
  const std::size_t names = names_.size();
  const std::size_t slots = slots_.size();
  const std::size_t trail = trail_.size();
  calls_.push_back(&f);
  messages_.frames.push_back({e.where, "in " + in_quotes(f.name) + ", called here"});
  bind(f, e, values, ctx);
  Value result;
  for (const std::int32_t id : program_.block(f.body)) {
    const Statement& s = program_.statement(id);
    if (s.kind != StatementKind::Return)
      run(s);
    else if (charge_statement(s.where))
      result = evaluate(s.value, ctx);
  }
  messages_.frames.pop_back();
  calls_.pop_back();
  local_ = outer;
  // Trail entries of the call concern its own slots only.
  trail_.erase(trail_.begin() + static_cast<std::ptrdiff_t>(trail), trail_.end());
  slots_.resize(slots);
  names_.resize(names);
  return result;
}

}  // namespace gdr::kc::front
