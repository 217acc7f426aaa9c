// Statements: assignments that rename, loops that unroll.
#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/builder.hpp"

namespace gdr::kc::front {

using assembly::in_quotes;

void Builder::run(BlockId block) {
  for (const std::int32_t id : program_.blocks[static_cast<std::size_t>(block)].statements) {
    if (stopped_) return;
    run(program_.statements[static_cast<std::size_t>(id)]);
  }
}

bool Builder::charge_statement(const SourceRange& where) {
  return charge(statements_run_, most_statements, where,
                "more than 100000 statements after unrolling");
}

void Builder::run(const Statement& s) {
  if (!charge_statement(s.where)) return;
  switch (s.kind) {
    case StatementKind::Declare:
      return declare(s);
    case StatementKind::Local:
      return local(s);
    case StatementKind::Assign:
    case StatementKind::Reduce:
      return assign(s);
    case StatementKind::If:
      return branch(s);
    case StatementKind::For:
      return loop(s);
    case StatementKind::Skip:
      return skip(s);
    case StatementKind::Kernel:
    case StatementKind::Flops:
    case StatementKind::Precision:
      return setting(s);
    case StatementKind::Return:  // the call of the function takes it
      break;
  }
}

void Builder::assign(const Statement& s) {
  any_statement_ = true;
  Name* n = find(s.place.name);
  if (n != nullptr && n->kind == NameKind::Result && local_ == nullptr &&
      (s.kind == StatementKind::Reduce ? s.join != Join::Append : s.op != TokenKind::Equals)) {
    const Join join = s.kind == StatementKind::Reduce ? s.join : Join::Sum;
    return contribute(*n, s.place, join, s.op == TokenKind::MinusEquals, s.value,
                      s.kind == StatementKind::Reduce ? &s : nullptr);
  }
  const bool reduces = s.kind == StatementKind::Reduce;
  const bool appends = reduces && s.join == Join::Append;
  if (n != nullptr && n->kind == NameKind::List && local_ == nullptr && appends)
    return append(*n, s);
  const bool is_temporary = n == nullptr || n->kind == NameKind::Temporary;
  if (appends && (n == nullptr || n->kind != NameKind::List)) {
    Diagnostic& d = messages_.error(
        Code::NotAList, s.place.where, in_quotes(s.place.name) + " is no list to append to", {},
        "declare one with its capacity: `VARF list " + std::string(s.place.name) + "[32];`");
    if (n != nullptr) d.notes.push_back({n->where, "declared here"});
  } else if (is_temporary && reduces) {
    messages_.error(Code::NotAResult, s.place.where,
                    in_quotes(s.place.name) + " is no result: min= and max= join results", {},
                    "a temporary takes `t = min(t, x);`");
  } else if (!is_temporary) {
    cannot_assign(*n, s.place, reduces ? TokenKind::PlusEquals : s.op);
  } else if (n == nullptr) {
    return assign_new(s);
  } else if (const std::int32_t at = slot_of(*n, s.place); at != none) {
    return assign_slot(at, s.place, s.op, s.value, n->type);
  }
  evaluate(s.value, {wide_, false});  // for its errors
}

/// A new temporary is known behind its first assignment only.
void Builder::assign_new(const Statement& s) {
  const std::int32_t at = new_slot();
  if (slots_.size() > most_nodes)
    return too_large(s.place.where, "more than a million temporaries");
  assign_slot(at, s.place, s.op, s.value, std::nullopt);
  Name& made = add_name(NameKind::Temporary, s.place.name, s.place.where);
  made.first = at;
  if (s.place.indices.empty()) return;
  made.growing = true;
  if (s.place.indices.size() > 1) {
    messages_.error(Code::IndexCount, s.place.where,
                    "an array with several indices is declared first", {},
                    "as in `short " + std::string(made.name) + "[3][3];`");
    made.kind = NameKind::Constant;
    return;
  }
  if (const auto number = element(made, s.place.indices, s.place.where))
    made.elements[*number] = at;
  else
    made.kind = NameKind::Constant;
}

void Builder::cannot_assign(const Name& n, const Place& place, TokenKind op) {
  if (n.kind == NameKind::Result) {
    const bool set = op == TokenKind::Equals;
    Diagnostic& d = messages_.error(
        Code::ResultAssigned, place.where,
        set ? "the result " + in_quotes(n.name) + " cannot be set, only added to"
            : "a function gives a value; it does not add to the result " + in_quotes(n.name),
        {}, set ? "write `" + std::string(n.name) + " += ...;`: it begins as zero" : "");
    d.notes.push_back({n.where, "declared here"});
    return;
  }
  if (n.kind == NameKind::List) {
    Diagnostic& d = messages_.error(
        Code::ListAppended, place.where,
        local_ != nullptr
            ? "a function gives a value; it does not append to the list " + in_quotes(n.name)
            : "the list " + in_quotes(n.name) + " is only appended to",
        {}, "write `" + std::string(n.name) + " append= ...;`: it begins empty");
    d.notes.push_back({n.where, "declared here"});
    return;
  }
  if (n.kind == NameKind::Constant && n.value.poison()) return;  // reported where it was declared
  Diagnostic& d =
      messages_.error(Code::CannotAssign, place.where, in_quotes(n.name) + " cannot be assigned to",
                      n.kind == NameKind::Constant ? "a constant" : "an input");
  d.notes.push_back({n.where, "declared here"});
}

/// The slot of a temporary or an element of it, made where an undeclared array grows; none after an
/// error.
std::int32_t Builder::slot_of(Name& n, const Place& place) {
  const auto number = element(n, place.indices, place.where);
  if (!number && n.growing) n.kind = NameKind::Constant;  // of any of its elements nothing is known
  if (!number) return none;
  if (!n.growing) return n.first + static_cast<std::int32_t>(*number);
  const auto it = n.elements.find(*number);
  if (it != n.elements.end()) return it->second;
  const std::int32_t at = new_slot();
  n.elements.emplace(*number, at);
  return at;
}

void Builder::assign_slot(std::int32_t at, const Place& place, TokenKind op, ExprId value,
                          std::optional<Type> type) {
  const Context ctx{type ? *type == Type::Long : wide_, type == Type::Int};
  Value v = evaluate(value, ctx);
  const SourceRange& where = expr(value).where;
  Slot next = slot(at);
  if (op != TokenKind::Equals) {
    const bool minus = op == TokenKind::MinusEquals;
    if (next.state == SlotState::Unassigned) {
      // It begins as zero: nothing is added to the first term.
      next.accumulates = true;
      if (minus) v = arithmetic_.negate(v, where);
    } else if (next.state == SlotState::Partial) {
      Diagnostic& d =
          messages_.error(Code::PartlyAssigned, place.where,
                          in_quotes(place.name) + " has a value only where a condition holds");
      d.notes.push_back({next.where, "assigned here"});
      v = {};
    } else {
      mark_read(next.definition);
      v = arithmetic_.combine(minus ? TokenKind::Minus : TokenKind::Plus, next.value, v, ctx,
                              joined(place.where, where));
    }
  } else {
    next.accumulates = false;
    const auto old = next.definition;
    if (old >= 0 && branches_ == 0 && !definitions_[static_cast<std::size_t>(old)].read) {
      const std::int32_t site = definitions_[static_cast<std::size_t>(old)].site;
      if (site >= 0) sites_[static_cast<std::size_t>(site)].overwritten = place.where;
    }
  }
  if (type) v = arithmetic_.convert(*type, v, where);
  if (!type && wide_ && v.kind == Kind::Number) v.wide = true;
  next.state = SlotState::Assigned;
  next.value = v;
  next.definition = definition_at(place);
  next.where = place.where;
  set(at, std::move(next));
}

void Builder::loop(const Statement& s) {
  const auto first = constant_integer(s.value, "the first value of a loop");
  const auto last = constant_integer(s.last, "the last value of a loop");
  const auto step =
      s.step == none ? std::optional<std::int64_t>(1) : constant_integer(s.step, "a step");
  if (!is_free(s.place.name, s.place.where)) return;
  if (step == 0) {
    messages_.error(Code::BadStep, expr(s.step).where, "a loop with a step of zero has no end");
    return;
  }
  Name& n = add_name(NameKind::Constant, s.place.name, s.place.where);
  if (!first || !last || !step) {
    run(s.body);  // once, with a name of which nothing is known, for its errors
  } else {
    turns(s, n, *first, *last, *step);
  }
  (local_ != nullptr ? *local_ : global_).erase(s.place.name);
}

void Builder::turns(const Statement& s, Name& n, std::int64_t first, std::int64_t last,
                    std::int64_t step) {
  for (std::int64_t k = first; step > 0 ? k <= last : k >= last; k += step) {
    if (!charge_statement(s.where)) return;
    n.value = constant_int(k);
    messages_.frames.push_back(
        {s.place.where, "in this loop, with " + std::string(n.name) + " = " + std::to_string(k)});
    run(s.body);
    messages_.frames.pop_back();
  }
}

}  // namespace gdr::kc::front
