// Statements: assignments create new values, loops are unrolled.
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
  return charge(statements_run_, max_statements, where,
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
    case StatementKind::Return:  // evaluated by call_function()
      break;
  }
}

void Builder::assign(const Statement& s) {
  any_statement_ = true;
  Name* n = find(s.lvalue.name);
  if (n != nullptr && n->kind == NameKind::Result && local_ == nullptr &&
      (s.kind == StatementKind::Reduce ? s.reduction != Reduction::Append
                                       : s.op != TokenKind::Equals)) {
    const Reduction reduction = s.kind == StatementKind::Reduce ? s.reduction : Reduction::Sum;
    return contribute(*n, s.lvalue, reduction, s.op == TokenKind::MinusEquals, s.value,
                      s.kind == StatementKind::Reduce ? &s : nullptr);
  }
  const bool reduces = s.kind == StatementKind::Reduce;
  const bool appends = reduces && s.reduction == Reduction::Append;
  if (n != nullptr && n->kind == NameKind::List && local_ == nullptr && appends)
    return append(*n, s);
  const bool is_temporary = n == nullptr || n->kind == NameKind::Temporary;
  if (appends && (n == nullptr || n->kind != NameKind::List)) {
    Diagnostic& d = messages_.error(
        Code::NotAList, s.lvalue.where, in_quotes(s.lvalue.name) + " is not a list", {},
        "declare one with its capacity: `VARF list " + std::string(s.lvalue.name) + "[32];`");
    if (n != nullptr) d.notes.push_back({n->where, "declared here"});
  } else if (is_temporary && reduces) {
    messages_.error(Code::NotAResult, s.lvalue.where,
                    in_quotes(s.lvalue.name) + " is not a result: min= and max= apply to results",
                    {}, "for a temporary use `t = min(t, x);`");
  } else if (!is_temporary) {
    cannot_assign(*n, s.lvalue, reduces ? TokenKind::PlusEquals : s.op);
  } else if (n == nullptr) {
    return assign_new(s);
  } else if (const std::int32_t at = row_of(*n, s.lvalue); at != none) {
    return assign_slot(at, s.lvalue, s.op, s.value, n->type);
  }
  evaluate(s.value, {wide_, false});  // report its errors
}

/// A new temporary is declared after its first assignment.
void Builder::assign_new(const Statement& s) {
  const std::int32_t at = new_slot();
  if (row_of_time_.size() > max_nodes)
    return too_large(s.lvalue.where, "more than a million temporaries");
  assign_slot(at, s.lvalue, s.op, s.value, std::nullopt);
  Name& made = add_name(NameKind::Temporary, s.lvalue.name, s.lvalue.where);
  made.first = at;
  if (s.lvalue.indices.empty()) return;
  made.growing = true;
  if (s.lvalue.indices.size() > 1) {
    messages_.error(Code::IndexCount, s.lvalue.where,
                    "an array with several indices must be declared", {},
                    "for example `short " + std::string(made.name) + "[3][3];`");
    made.kind = NameKind::Constant;
    return;
  }
  if (const auto number = element(made, s.lvalue.indices, s.lvalue.where))
    made.elements[*number] = at;
  else
    made.kind = NameKind::Constant;
}

void Builder::cannot_assign(const Name& n, const LValue& lvalue, TokenKind op) {
  if (n.kind == NameKind::Result) {
    const bool set = op == TokenKind::Equals;
    Diagnostic& d = messages_.error(
        Code::ResultAssigned, lvalue.where,
        set ? "the result " + in_quotes(n.name) + " cannot be assigned"
            : "a function cannot contribute to the result " + in_quotes(n.name),
        {}, set ? "use `" + std::string(n.name) + " += ...;`: it starts as zero" : "");
    d.notes.push_back({n.where, "declared here"});
    return;
  }
  if (n.kind == NameKind::List) {
    Diagnostic& d = messages_.error(
        Code::ListAppended, lvalue.where,
        local_ != nullptr ? "a function cannot append to the list " + in_quotes(n.name)
                          : "the list " + in_quotes(n.name) + " can only be appended to",
        {}, "use `" + std::string(n.name) + " append= ...;`: it starts empty");
    d.notes.push_back({n.where, "declared here"});
    return;
  }
  if (n.kind == NameKind::Constant && n.value.poison()) return;  // already reported
  Diagnostic& d = messages_.error(Code::CannotAssign, lvalue.where,
                                  in_quotes(n.name) + " cannot be assigned to",
                                  n.kind == NameKind::Constant ? "a constant" : "an input");
  d.notes.push_back({n.where, "declared here"});
}

/// The slot of a temporary or of an element, created if the array has no declared size; none after
/// an error.
std::int32_t Builder::row_of(Name& n, const LValue& lvalue) {
  const auto number = element(n, lvalue.indices, lvalue.where);
  if (!number && n.growing) n.kind = NameKind::Constant;  // its elements are unknown from here on
  if (!number) return none;
  if (!n.growing) return n.first + static_cast<std::int32_t>(*number);
  const auto it = n.elements.find(*number);
  if (it != n.elements.end()) return it->second;
  const std::int32_t at = new_slot();
  n.elements.emplace(*number, at);
  return at;
}

void Builder::assign_slot(std::int32_t at, const LValue& lvalue, TokenKind op, ExprId value,
                          std::optional<Type> type) {
  const Context ctx{type ? *type == Type::Long : wide_, type == Type::Int};
  Value v = evaluate(value, ctx);
  const SourceRange& where = expr(value).where;
  Slot next = slot(at);
  if (op != TokenKind::Equals) {
    const bool minus = op == TokenKind::MinusEquals;
    if (next.state == SlotState::Unassigned) {
      // It starts as zero: nothing is added to the first term.
      next.accumulates = true;
      if (minus) v = arithmetic_.negate(v, where);
    } else if (next.state == SlotState::Partial) {
      Diagnostic& d =
          messages_.error(Code::PartlyAssigned, lvalue.where,
                          in_quotes(lvalue.name) + " is assigned under a condition only");
      d.notes.push_back({next.where, "assigned here"});
      v = {};
    } else {
      mark_read(next.definition);
      v = arithmetic_.combine(minus ? TokenKind::Minus : TokenKind::Plus, next.value, v, ctx,
                              joined(lvalue.where, where));
    }
  } else {
    next.accumulates = false;
    const auto old = next.definition;
    if (old >= 0 && branches_ == 0 && !definitions_[static_cast<std::size_t>(old)].read) {
      const std::int32_t site = definitions_[static_cast<std::size_t>(old)].site;
      if (site >= 0) sites_[static_cast<std::size_t>(site)].overwritten = lvalue.where;
    }
  }
  if (type) v = arithmetic_.convert(*type, v, where);
  if (!type && wide_ && v.kind == Kind::Number) v.wide = true;
  next.state = SlotState::Assigned;
  next.value = v;
  next.definition = definition_at(lvalue);
  next.where = lvalue.where;
  set(at, std::move(next));
}

void Builder::loop(const Statement& s) {
  const auto first = constant_integer(s.value, "the first value of a loop");
  const auto last = constant_integer(s.last, "the last value of a loop");
  const auto step =
      s.step == none ? std::optional<std::int64_t>(1) : constant_integer(s.step, "a step");
  if (!is_free(s.lvalue.name, s.lvalue.where)) return;
  if (step == 0) {
    messages_.error(Code::BadStep, expr(s.step).where, "the step of a loop must not be zero");
    return;
  }
  Name& n = add_name(NameKind::Constant, s.lvalue.name, s.lvalue.where);
  if (!first || !last || !step) {
    run(s.body);  // once, with an unknown loop variable, to report errors
  } else {
    unroll_loop(s, n, *first, *last, *step);
  }
  (local_ != nullptr ? *local_ : global_).erase(s.lvalue.name);
}

void Builder::unroll_loop(const Statement& s, Name& n, std::int64_t first, std::int64_t last,
                          std::int64_t step) {
  for (std::int64_t k = first; step > 0 ? k <= last : k >= last; k += step) {
    if (!charge_statement(s.where)) return;
    n.value = constant_int(k);
    messages_.frames.push_back(
        {s.lvalue.where, "in this loop, with " + std::string(n.name) + " = " + std::to_string(k)});
    run(s.body);
    messages_.frames.pop_back();
  }
}

}  // namespace gdr::kc::front
