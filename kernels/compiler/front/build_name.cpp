// Names in expressions: inputs, tables, temporaries, constants, and their indices.
#include <cmath>

#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/builder.hpp"

namespace gdr::kc::front {

using assembly::in_quotes;

Value Builder::read_name(const Expr& e) {
  Name* n = find(e.name);
  if (n == nullptr) return unknown_name(e);
  switch (n->kind) {
    case NameKind::Input:
      return read_input(*n, e);
    case NameKind::Table:
      return read_table(*n, e);
    case NameKind::Temporary:
      return read_temporary(*n, e);
    case NameKind::Constant: {
      if (n->value.poison()) return {};
      const bool indexed = !e.operands.empty();
      return indexed && !element(*n, {none}, e.where) ? Value{} : n->value;
    }
    case NameKind::Result:
    case NameKind::List:
      break;
  }
  const bool list = n->kind == NameKind::List;
  Diagnostic& d = messages_.error(
      Code::ResultRead, e.where,
      std::string(list ? "the list " : "the result ") + in_quotes(n->name) + " cannot be read", {},
      list ? "only the host can read it; use a sum for a count"
           : "it is a sum over all sources; use a temporary for the contribution of this pair");
  d.notes.push_back({n->where, "declared here"});
  return {};
}

Value Builder::unknown_name(const Expr& e) {
  const auto later = assigned_somewhere_.find(e.name);
  if (later != assigned_somewhere_.end() && local_ == nullptr) {
    Diagnostic& d = messages_.error(Code::NotAssigned, e.where,
                                    in_quotes(e.name) + " is read before it is assigned");
    d.notes.push_back({later->second, "assigned here"});
    return {};
  }
  assembly::Suggestion suggestion(e.name);
  for (const Scope* scope : {local_, &global_}) {
    if (scope == nullptr || !messages_.below_limit()) continue;
    for (const auto& [name, n] : *scope) {
      const bool hidden = local_ != nullptr && scope == &global_ && n->kind == NameKind::Temporary;
      if (!hidden && n->kind != NameKind::Result && n->kind != NameKind::List)
        suggestion.consider(name);
    }
  }
  messages_.error(
      Code::UnknownName, e.where, in_quotes(e.name) + " is not declared", {},
      !suggestion.best().empty() ? suggestion.help()
      : local_ != nullptr
          ? "a function sees its parameters, inputs and constants, but not the kernel's temporaries"
          : "declare it, or assign it first");
  return {};
}

std::optional<double> Builder::constant_value(ExprId id, const char* what) {
  const Value v = evaluate(id, {});
  if (v.poison()) return std::nullopt;
  if (v.constant && v.kind != Kind::Bool) return v.number;
  messages_.error(Code::ConstantNeeded, expr(id).where,
                  std::string(what) + " must be a compile-time constant", {},
                  "constants consist of literals, `CONST name = ...;` and loop variables");
  return std::nullopt;
}

std::optional<std::int64_t> Builder::constant_integer(ExprId id, const char* what) {
  const std::optional<double> x = constant_value(id, what);
  if (!x) return std::nullopt;
  if (*x == std::trunc(*x) && std::fabs(*x) < 0x1p53) return static_cast<std::int64_t>(*x);
  messages_.error(Code::IntegerNeeded, expr(id).where, std::string(what) + " must be an integer");
  return std::nullopt;
}

std::optional<std::int64_t> Builder::element(const Name& n, const std::vector<ExprId>& indices,
                                             const SourceRange& where) {
  const std::size_t wanted = n.growing ? 1 : n.sizes.size();
  if (indices.size() != wanted) {
    const std::string has = wanted == 0   ? "no index"
                            : wanted == 1 ? "1 index"
                                          : std::to_string(wanted) + " indices";
    Diagnostic& d = messages_.error(Code::IndexCount, where, in_quotes(n.name) + " takes " + has);
    d.notes.push_back({n.where, "declared here"});
    return std::nullopt;
  }
  std::int64_t number = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto index = constant_integer(indices[i], "the index of an array");
    if (!index) return std::nullopt;
    const auto size = n.growing ? static_cast<std::int64_t>(max_array_elements) : n.sizes[i];
    if (*index < 0 || *index >= size) {
      Diagnostic& d = messages_.error(
          Code::IndexRange, expr(indices[i]).where,
          "the index " + std::to_string(*index) + " is out of range for " + in_quotes(n.name),
          "from 0 to " + std::to_string(size - 1));
      d.notes.push_back({n.where, "declared here"});
      return std::nullopt;
    }
    number = number * size + *index;
  }
  return number;
}

namespace {

std::vector<ExprId> indices_of(const Expr& e) {
  std::vector<ExprId> indices;
  for (const ExprOperand& o : e.operands) indices.push_back(o.expr);
  return indices;
}

}  // namespace

Value Builder::read_input(Name& n, const Expr& e) {
  n.used = true;
  const auto number = element(n, indices_of(e), e.where);
  if (!number) return {};
  Node node;
  node.fn = Fn::Input;
  node.variable = n.first + static_cast<std::int32_t>(*number);
  node.type = graph_.variable(node.variable).type;
  node.where = e.where;
  return node_value(node.type == Type::Int ? Kind::Int : Kind::Number, nodes_.node(node));
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
    const Value index =
        arithmetic_.convert(Type::Int, evaluate(e.operands[i].expr, {false, true}), where);
    if (index.poison()) return {};
    if (index.constant && (index.integer < 0 || index.integer >= n.sizes[i])) {
      messages_.error(Code::IndexRange, where,
                      "the index " + std::to_string(index.integer) + " is out of range for " +
                          in_quotes(n.name),
                      "from 0 to " + std::to_string(n.sizes[i] - 1));
      return {};
    }
    if (i == 0) {
      at = index;
      continue;
    }
    at = arithmetic_.combine(TokenKind::Star, at, constant_int(n.sizes[i]), {}, where);
    at = arithmetic_.combine(TokenKind::Plus, at, index, {}, where);
  }
  if (at.poison()) return {};
  Node node;
  node.fn = Fn::Lookup;
  node.variable = n.first;
  node.type = graph_.variable(n.first).type;
  node.a = arithmetic_.int_node(at, e.where);
  node.where = e.where;
  return node_value(node.type == Type::Int ? Kind::Int : Kind::Number, nodes_.node(node));
}

Value Builder::read_temporary(Name& n, const Expr& e) {
  const auto number = element(n, indices_of(e), e.where);
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
    messages_.error(Code::NotAssigned, e.where, what + " is read before it is assigned");
    return {};
  }
  mark_read(slot(at).definition);
  Diagnostic& d =
      messages_.error(Code::PartlyAssigned, e.where, what + " is assigned under a condition only",
                      {}, "assign it before the `if`, or in both branches");
  d.notes.push_back({slot(at).where, "assigned here"});
  return {};
}

}  // namespace gdr::kc::front
