// Contributions to results.
#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/builder.hpp"

namespace gdr::kc::front {

using assembly::in_quotes;

namespace {

constexpr const char* reduction_text(Reduction reduction) noexcept {
  return reduction == Reduction::Sum ? "+=" : reduction == Reduction::Min ? "min=" : "max=";
}

}  // namespace

/// Record the reduction of a result; reports an error and returns false on a conflict.
bool Builder::claim(std::int32_t result, Reduction reduction, std::int32_t payload_result,
                    const SourceRange& where) {
  ResultUse& use = results_[static_cast<std::size_t>(result)];
  if (!use.used) {
    use = {true, reduction, payload_result, false, where};
    return true;
  }
  if (use.reduction == reduction && use.payload_result == payload_result && !use.is_payload)
    return true;
  const std::string& name = graph_.variable(result).name;
  Diagnostic& d = messages_.error(Code::ReductionMixed, where,
                                  "the result " + in_quotes(name) + " has two different reductions",
                                  {}, "declare another result");
  d.notes.push_back(
      {use.where, use.is_payload ? "used as an index here"
                  : use.reduction != reduction
                      ? std::string("reduced by ") + reduction_text(use.reduction) + " here"
                      : "another index here"});
  return false;
}

/// The index of a minimum or maximum.
bool Builder::payload(const Statement& s, Contribution& c) {
  const LValue& lvalue = s.payload_lvalue;
  Name* n = find(lvalue.name);
  const Value index =
      arithmetic_.convert(Type::Int, evaluate(s.payload, {false, true}), expr(s.payload).where);
  if (n == nullptr || n->kind != NameKind::Result || n->type != Type::Int) {
    Diagnostic& d =
        messages_.error(Code::BadPayload, lvalue.where, "the index must be stored in an int result",
                        {}, "declare it: `VARF int " + std::string(lvalue.name) + ";`");
    if (n != nullptr) d.notes.push_back({n->where, "declared here"});
    return false;
  }
  const auto number = element(*n, lvalue.indices, lvalue.where);
  if (!number || index.poison()) return false;
  c.payload_result = n->first + static_cast<std::int32_t>(*number);
  c.payload = arithmetic_.int_node(index, expr(s.payload).where);
  ResultUse& use = results_[static_cast<std::size_t>(c.payload_result)];
  if (!use.used) {
    use = {true, c.reduction, c.result, true, lvalue.where};
    return true;
  }
  if (use.is_payload && use.payload_result == c.result) return true;
  Diagnostic& d = messages_.error(Code::BadPayload, lvalue.where,
                                  in_quotes(n->name) + " already has another contribution", {},
                                  "declare another result");
  d.notes.push_back({use.where, "used here"});
  return false;
}

/// `list append= int;`
void Builder::append(Name& n, const Statement& s) {
  const SourceRange& where = expr(s.value).where;
  const Value v = arithmetic_.convert(Type::Int, evaluate(s.value, {false, true}), where);
  if (!s.lvalue.indices.empty()) {
    Diagnostic& d = messages_.error(Code::IndexCount, s.lvalue.where,
                                    "an append to " + in_quotes(n.name) + " takes no index", {},
                                    "write `" + std::string(n.name) + " append= ...;`");
    d.notes.push_back({n.where, "declared here"});
    return;
  }
  results_[static_cast<std::size_t>(n.first)].used = true;
  const Value condition = arithmetic_.both(path_, not_skipped_, s.lvalue.where);
  if (v.poison() || condition.poison() || (condition.constant && !condition.truth)) return;
  Contribution c;
  c.result = n.first;
  c.reduction = Reduction::Append;
  c.value = arithmetic_.int_node(v, where);
  if (!condition.constant) c.condition = condition.node;
  c.where = s.lvalue.where;
  graph_.contributions.push_back(c);
}

void Builder::contribute(Name& n, const LValue& lvalue, Reduction reduction, bool negated,
                         ExprId value, const Statement* statement) {
  const auto number = element(n, lvalue.indices, lvalue.where);
  const bool is_int = n.type == Type::Int;
  const SourceRange& where = expr(value).where;
  Value v = evaluate(value, {wide_, is_int});
  if (v.kind == Kind::Bool || is_int) {
    // convert() reports conditions.
    v = arithmetic_.convert(is_int ? Type::Int : Type::Short, v, where);
  }
  Contribution c;
  c.reduction = reduction;
  c.negated = negated;
  c.where = lvalue.where;
  if (number) c.result = n.first + static_cast<std::int32_t>(*number);
  const bool payload_wanted = statement != nullptr && statement->payload != none;
  if (!number || (payload_wanted && !payload(*statement, c))) return;
  if (!claim(c.result, reduction, c.payload_result, lvalue.where) || v.poison()) return;
  c.value = is_int ? arithmetic_.int_node(v, where) : arithmetic_.number_node(v, Type::Long, where);
  const Value condition = arithmetic_.both(path_, not_skipped_, lvalue.where);
  if (condition.poison() || (condition.constant && !condition.truth)) return;
  if (!condition.constant) c.condition = condition.node;
  graph_.contributions.push_back(c);
}

}  // namespace gdr::kc::front
