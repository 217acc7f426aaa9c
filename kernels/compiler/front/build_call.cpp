// Functions: built-in ones, and the kernel's own, which are inlined.
#include <algorithm>
#include <utility>

#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/builder.hpp"

namespace gdr::kc::front {
namespace {

using assembly::in_quotes;

struct Builtin {
  std::string_view name;
  std::size_t arguments;
  Value (*apply)(Arithmetic& with, const Arguments& a, Context ctx, const SourceRange& where);
};

template <Fn fn>
Value rounded(Arithmetic& with, const Arguments& a, Context ctx, const SourceRange& where) {
  return with.round1(fn, a[0], ctx, where);
}
template <Fn fn>
Value extreme(Arithmetic& with, const Arguments& a, Context ctx, const SourceRange& where) {
  return with.extreme(fn, a[0], a[1], ctx, where);
}
template <Type type>
Value converted(Arithmetic& with, const Arguments& a, Context, const SourceRange& where) {
  return with.convert(type, a[0], where);
}
Value absolute(Arithmetic& with, const Arguments& a, Context, const SourceRange& where) {
  return with.absolute(a[0], where);
}
Value power(Arithmetic& with, const Arguments& a, Context ctx, const SourceRange& where) {
  return with.power(a[0], a[1], ctx, where);
}
Value inverse_cube_of_root(Arithmetic& with, const Arguments& a, Context ctx,
                           const SourceRange& where) {
  return with.power(a[0], constant_number(-1.5), ctx, where);
}

constexpr Builtin builtins[] = {
    {"rsqrt", 1, rounded<Fn::Rsqrt>},
    {"sqrt", 1, rounded<Fn::Sqrt>},
    {"recip", 1, rounded<Fn::Reciprocal>},
    {"exp", 1, rounded<Fn::Exp>},
    {"abs", 1, absolute},
    {"min", 2, extreme<Fn::Min>},
    {"max", 2, extreme<Fn::Max>},
    {"pow", 2, power},
    {"powm32", 1, inverse_cube_of_root},
    {"short", 1, converted<Type::Short>},
    {"long", 1, converted<Type::Long>},
};

const Builtin* find_builtin(std::string_view name) noexcept {
  const auto* found = std::ranges::find(builtins, name, &Builtin::name);
  return found == std::end(builtins) ? nullptr : found;
}

std::string count_text(std::size_t count) {
  return count == 1   ? "one argument"
         : count == 0 ? "no argument"
                      : std::to_string(count) + " arguments";
}

}  // namespace

void Builder::check_functions() {
  for (const Function& f : program_.functions) {
    if (find_builtin(f.name) != nullptr) {
      messages_.error(Code::NameReserved, f.where, in_quotes(f.name) + " is a built-in function");
      continue;
    }
    const auto [it, is_new] = functions_.try_emplace(f.name, &f);
    if (!is_new) {
      Diagnostic& d = messages_.error(Code::NameTaken, f.where,
                                      "the function " + in_quotes(f.name) + " is already defined");
      d.notes.push_back({it->second->where, "defined here"});
    }
    if (f.body == none) continue;
    const auto& body = program_.blocks[static_cast<std::size_t>(f.body)].statements;
    for (std::size_t i = 0; i < body.size(); ++i) {
      const Statement& s = program_.statements[static_cast<std::size_t>(body[i])];
      if (s.kind == StatementKind::Return && i + 1 < body.size())
        messages_.error(Code::Misplaced, s.where,
                        "`return` must be the last statement of a function");
    }
    const bool returns =
        !body.empty() &&
        program_.statements[static_cast<std::size_t>(body.back())].kind == StatementKind::Return;
    if (!returns)
      messages_.error(Code::ReturnMissing, f.where,
                      "the function " + in_quotes(f.name) + " has no return statement", {},
                      "end it with `return expression;`");
  }
}

Value Builder::call(const Expr& e, Context ctx) {
  if (find_builtin(e.name) != nullptr) return call_builtin(e, ctx);
  const auto it = functions_.find(e.name);
  if (it != functions_.end()) return call_function(*it->second, e, ctx);
  assembly::Suggestion suggestion(e.name);
  for (const Builtin& b : builtins) suggestion.consider(b.name);
  if (messages_.below_limit()) {
    for (const auto& [name, f] : functions_) suggestion.consider(name);
  }
  messages_.error(Code::UnknownFunction, e.where, in_quotes(e.name) + " is not a function", {},
                  suggestion.help());
  for (const ExprOperand& o : e.operands) evaluate(o.expr, ctx);
  return {};
}

Arguments Builder::arguments_of(const Expr& e, Context ctx) {
  Arguments values;
  for (const ExprOperand& o : e.operands) values.push_back(evaluate(o.expr, ctx));
  return values;
}

Value Builder::call_builtin(const Expr& e, Context ctx) {
  const Builtin& b = *find_builtin(e.name);
  Context inner = ctx;
  if (b.name == "long") inner.wide = true;
  if (b.name == "short") inner.wide = false;
  const Arguments values = arguments_of(e, inner);
  if (values.size() != b.arguments) {
    messages_.error(Code::ArgumentCount, e.where,
                    in_quotes(b.name) + " takes " + count_text(b.arguments),
                    std::to_string(values.size()) + " are given");
    return {};
  }
  return b.apply(arithmetic_, values, ctx, e.where);
}

/// Reports an error and returns false if the call is invalid.
bool Builder::can_call(const Function& f, const Expr& e) {
  if (e.operands.size() != f.parameters.size()) {
    Diagnostic& d = messages_.error(Code::ArgumentCount, e.where,
                                    in_quotes(f.name) + " takes " + count_text(f.parameters.size()),
                                    std::to_string(e.operands.size()) + " are given");
    d.notes.push_back({f.where, "defined here"});
    return false;
  }
  if (std::ranges::find(calls_, &f) != calls_.end()) {
    messages_.error(Code::Recursion, e.where, in_quotes(f.name) + " calls itself",
                    "recursion is not supported");
    return false;
  }
  if (calls_.size() < static_cast<std::size_t>(max_call_depth)) return true;
  messages_.error(Code::NestedTooDeeply, e.where, "calls are nested too deeply");
  return false;
}

/// Parameters are temporaries with an initial value.
void Builder::bind(const Function& f, const Expr& e, const Arguments& values, Context ctx) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Parameter& p = f.parameters[i];
    if (!is_free(p.name, p.where)) continue;
    Value v = values[i];
    if (p.type)
      v = arithmetic_.convert(*p.type, v, expr(e.operands[i].expr).where);
    else
      v.wide = v.wide || ctx.wide;
    Name& n = add_name(NameKind::Temporary, p.name, p.where);
    n.type = p.type;
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
  const std::size_t slots = row_of_time_.size();
  const std::size_t trail = trail_.size();
  calls_.push_back(&f);
  messages_.frames.push_back({e.where, "in " + in_quotes(f.name) + ", called here"});
  bind(f, e, values, ctx);
  Value result;
  for (const std::int32_t id : program_.blocks[static_cast<std::size_t>(f.body)].statements) {
    const Statement& s = program_.statements[static_cast<std::size_t>(id)];
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
  row_of_time_.resize(slots);
  names_.resize(names);
  return result;
}

}  // namespace gdr::kc::front
