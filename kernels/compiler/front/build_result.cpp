// Contributions to results.
#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/builder.hpp"

namespace gdr::kc::front {

using assembly::in_quotes;

namespace {

constexpr const char* join_text(Join join) noexcept {
  return join == Join::Sum ? "+=" : join == Join::Min ? "min=" : "max=";
}

}  // namespace

/// Note how a result is joined; false where that was said differently before.
bool Builder::claim(std::int32_t result, Join join, std::int32_t payload_result,
                    const SourceRange& where) {
  ResultUse& use = results_[static_cast<std::size_t>(result)];
  if (!use.used) {
    use = {true, join, payload_result, false, where};
    return true;
  }
  if (use.join == join && use.payload_result == payload_result && !use.is_payload) return true;
  const std::string& name = graph_.variables[static_cast<std::size_t>(result)].name;
  Diagnostic& d = messages_.error(Code::JoinMixed, where,
                                  "the result " + in_quotes(name) + " is joined in two ways", {},
                                  "a result has one kind of contribution: declare another result");
  d.notes.push_back({use.where, use.is_payload ? "here it receives an index"
                                : use.join != join
                                    ? std::string("here it is joined by ") + join_text(use.join)
                                    : "here with another index"});
  return false;
}

/// The index that goes with the key of a minimum or maximum.
bool Builder::payload(const Statement& s, Contribution& c) {
  const Place& place = s.payload_place;
  Name* n = find(place.name);
  const Value index =
      arithmetic_.convert(Type::Int, evaluate(s.payload, {false, true}), expr(s.payload).where);
  if (n == nullptr || n->kind != NameKind::Result || n->type != Type::Int) {
    Diagnostic& d =
        messages_.error(Code::BadPayload, place.where, "the index goes to a result that is an int",
                        {}, "declare it: `VARF int " + std::string(place.name) + ";`");
    if (n != nullptr) d.notes.push_back({n->where, "declared here"});
    return false;
  }
  const auto number = element(*n, place.indices, place.where);
  if (!number || index.poison()) return false;
  c.payload_result = n->first + static_cast<std::int32_t>(*number);
  c.payload = arithmetic_.int_node(index, expr(s.payload).where);
  ResultUse& use = results_[static_cast<std::size_t>(c.payload_result)];
  if (!use.used) {
    use = {true, c.join, c.result, true, place.where};
    return true;
  }
  if (use.is_payload && use.payload_result == c.result) return true;
  Diagnostic& d = messages_.error(Code::BadPayload, place.where,
                                  in_quotes(n->name) + " is used for something else already", {},
                                  "declare another result");
  d.notes.push_back({use.where, "here"});
  return false;
}

/// `list append= int;`
void Builder::append(Name& n, const Statement& s) {
  const SourceRange& where = expr(s.value).where;
  const Value v = arithmetic_.convert(Type::Int, evaluate(s.value, {false, true}), where);
  if (!s.place.indices.empty()) {
    Diagnostic& d = messages_.error(Code::IndexCount, s.place.where,
                                    "what is appended goes to the end of " + in_quotes(n.name), {},
                                    "write `" + std::string(n.name) + " append= ...;`");
    d.notes.push_back({n.where, "declared here"});
    return;
  }
  results_[static_cast<std::size_t>(n.first)].used = true;
  const Value gate = arithmetic_.both(path_, alive_, s.place.where);
  if (v.poison() || gate.poison() || (gate.constant && !gate.truth)) return;
  Contribution c;
  c.result = n.first;
  c.join = Join::Append;
  c.value = arithmetic_.int_node(v, where);
  if (!gate.constant) c.gate = gate.node;
  c.where = s.place.where;
  graph_.contributions.push_back(c);
}

void Builder::contribute(Name& n, const Place& place, Join join, bool negated, ExprId value,
                         const Statement* reduction) {
  const auto number = element(n, place.indices, place.where);
  const bool is_int = n.type == Type::Int;
  const SourceRange& where = expr(value).where;
  Value v = evaluate(value, {wide_, is_int});
  if (v.kind == Kind::Bool || is_int) {
    // A condition is refused in the words of a number.
    v = arithmetic_.convert(is_int ? Type::Int : Type::Short, v, where);
  }
  Contribution c;
  c.join = join;
  c.negated = negated;
  c.where = place.where;
  if (number) c.result = n.first + static_cast<std::int32_t>(*number);
  const bool payload_wanted = reduction != nullptr && reduction->payload != none;
  if (!number || (payload_wanted && !payload(*reduction, c))) return;
  if (!claim(c.result, join, c.payload_result, place.where) || v.poison()) return;
  c.value = is_int ? arithmetic_.int_node(v, where) : arithmetic_.number_node(v, Type::Long, where);
  const Value gate = arithmetic_.both(path_, alive_, place.where);
  if (gate.poison() || (gate.constant && !gate.truth)) return;
  if (!gate.constant) c.gate = gate.node;
  graph_.contributions.push_back(c);
}

}  // namespace gdr::kc::front
