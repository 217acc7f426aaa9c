// Statements: assignments, loops and conditions.
#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/builder.hpp"

namespace gdr::kc::front {
namespace {

using assembly::in_quotes;

/// The operation of `+=`, `-=` and `*=`.
Fn updated_by(std::string_view op) noexcept {
  return op == "-=" ? Fn::Sub : op == "*=" ? Fn::Mul : Fn::Add;
}

/// Whether the word before `=` is that of a reduction of results only.
bool is_reduction(std::string_view op) noexcept {
  return !op.ends_with('=') && reduction_of(op) != Reduction::Sum;
}

}  // namespace

void Builder::run(BlockId block) {
  for (const std::int32_t id : program_.block(block)) {
    if (stopped_) return;
    run(program_.statement(id));
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
  const LValue& to = s.lvalue;
  Name* n = find(to.name);
  const bool appends = s.op == "append";
  const bool is_list = n != nullptr && n->kind == NameKind::List;
  const bool is_result = n != nullptr && n->kind == NameKind::Result;
  const bool is_temporary = n == nullptr || n->kind == NameKind::Temporary;
  if (is_result && local_ == nullptr && !appends && s.op != "=") return contribute(*n, s);
  if (is_list && local_ == nullptr && appends) return append(*n, s);
  if (appends && !is_list) {
    Message d =
        error(Code::NotAList, to.where, in_quotes(to.name) + " is not a list")
            .help("declare one with its capacity: `VARF list " + std::string(to.name) + "[32];`");
    if (n != nullptr) d.note(n->where, "declared here");
  } else if (is_temporary && is_reduction(s.op)) {
    const std::string op(s.op), name(to.name);
    const bool function = op == "min" || op == "max";
    error(Code::NotAResult, to.where,
          in_quotes(to.name) + " is not a result: " + op + "= applies to results")
        .help(function ? "for a temporary use `t = " + op + "(t, x);`"
                       : "declare it: `VARF " + name + ";`");
  } else if (!is_temporary) {
    cannot_assign(*n, s);
  } else if (n == nullptr) {
    if (to.component.empty()) return assign_new(s);
    error(Code::NotAssigned, to.where,
          "a component of " + in_quotes(to.name) + " is assigned before the whole")
        .help("assign all components first: `" + std::string(to.name) + " = vec3(a, b, c);`");
  } else {
    LValue whole = to;
    bool failed = false;
    const auto component = split_component(*n, whole, failed);
    const std::int32_t at = failed ? none : slot_of(*n, whole);
    if (at != none) {
      const DeclaredType declared{n->type, n->shape};
      return assign_slot(at, to, s.op, s.value, n->declared ? &declared : nullptr, component);
    }
  }
  evaluate(s.value, {wide_, false});  // report its errors
}

/// A new temporary is declared after its first assignment.
void Builder::assign_new(const Statement& s) {
  const std::int32_t at = new_slot();
  if (slots_.size() > max_nodes)
    return too_large(s.lvalue.where, "more than a million temporaries");
  assign_slot(at, s.lvalue, s.op, s.value, nullptr);
  Name& made = add_name(NameKind::Temporary, s.lvalue.name, s.lvalue.where);
  made.first = at;
  if (s.lvalue.indices.empty()) return;
  made.growing = true;
  if (s.lvalue.indices.size() > 1) {
    error(Code::IndexCount, s.lvalue.where, "an array with several indices must be declared")
        .help("for example `short " + std::string(made.name) + "[3][3];`");
    made.kind = NameKind::Constant;
    return;
  }
  if (const auto number = element(made, s.lvalue.indices, s.lvalue.where))
    made.elements[*number] = at;
  else
    made.kind = NameKind::Constant;
}

void Builder::cannot_assign(const Name& n, const Statement& s) {
  const SourceRange& where = s.lvalue.where;
  if (n.kind == NameKind::Result) {
    const bool set = s.op == "=";
    error(Code::ResultAssigned, where,
          set ? "the result " + in_quotes(n.name) + " cannot be assigned"
              : "a function cannot contribute to the result " + in_quotes(n.name))
        .help(set ? "use `" + std::string(n.name) + " += ...;`: it starts as zero" : "")
        .note(n.where, "declared here");
    return;
  }
  if (n.kind == NameKind::List) {
    error(Code::ListAppended, where,
          local_ != nullptr ? "a function cannot append to the list " + in_quotes(n.name)
                            : "the list " + in_quotes(n.name) + " can only be appended to")
        .help("use `" + std::string(n.name) + " append= ...;`: it starts empty")
        .note(n.where, "declared here");
    return;
  }
  if (n.kind == NameKind::Constant && n.value.poison()) return;  // already reported
  error(Code::CannotAssign, where, in_quotes(n.name) + " cannot be assigned to")
      .label(n.kind == NameKind::Constant ? "a constant" : "an input")
      .note(n.where, "declared here");
}

/// The slot of a temporary or of an element, created if the array has no declared size; none after
/// an error.
std::int32_t Builder::slot_of(Name& n, const LValue& lvalue) {
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

/// Remove the component from an assigned name, given by its name or as the last index.
std::optional<std::uint32_t> Builder::split_component(const Name& n, LValue& lvalue, bool& failed) {
  std::optional<std::uint32_t> component;
  if (!lvalue.component.empty()) {
    const bool known = n.kind == NameKind::Result || n.declared;
    Shape shape = shape_of(n);
    // Of a temporary that has no value yet, the shape with this component.
    for (const Shape s : shapes_of_parts)
      if (!known && shape == Shape::Scalar && component_of(s, lvalue.component)) shape = s;
    component = component_of(shape, lvalue.component);
    failed = !component;
    if (failed)
      error(Code::NoComponent, lvalue.where,
            in_quotes(n.name) + " has no component " + in_quotes(lvalue.component))
          .note(n.where, "declared here");
    lvalue.component = {};
  } else if (has_component_index(n, lvalue.indices)) {
    component = component_index(n, lvalue.indices.back());
    failed = !component;
    lvalue.indices.pop_back();
  }
  return component;
}

/// The vector or tensor in a slot with one component assigned.
Value Builder::with_component(const Slot& old, std::uint32_t component, const LValue& lvalue,
                              std::string_view op, const Value& part, Context ctx) {
  if (old.state != SlotState::Assigned) {
    error(old.state == SlotState::Partial ? Code::PartlyAssigned : Code::NotAssigned, lvalue.where,
          "a component of " + in_quotes(lvalue.name) + " is assigned before the whole")
        .help("assign all components first: `" + std::string(lvalue.name) + " = vec3(a, b, c);`");
    return {};
  }
  mark_read(old.definition);
  if (old.value.poison() || part.poison()) return {};
  if (component >= old.value.parts.size() ||
      !arithmetic_.has_shape(Shape::Scalar, part, lvalue.where)) {
    if (component >= old.value.parts.size())
      error(Code::NoComponent, lvalue.where, in_quotes(lvalue.name) + " has no such component");
    return {};
  }
  Value whole = old.value;
  Value& to = whole.parts[component];
  to = op == "=" ? part : arithmetic_.combine(updated_by(op), to, part, ctx, lvalue.where);
  return value_of_parts(whole.shape(), std::move(whole.parts));
}

/// The name of a new value, for texts that are made of the graph.
void Builder::keep_name(const LValue& lvalue, const Value& v) {
  const auto keep = [&](const Value& number, std::string_view component) {
    if (number.node == no_node || nodes_[number.node].fn == Fn::Input) return;
    std::string name(lvalue.name);
    if (!component.empty()) name.append("_").append(component);
    graph_.names.try_emplace(number.node, std::move(name));
  };
  for (std::size_t k = 0; k < v.parts.size(); ++k) keep(v.parts[k], info(v.shape()).components[k]);
  if (!v.has_parts()) keep(v, lvalue.component);
}

void Builder::assign_slot(std::int32_t at, const LValue& lvalue, std::string_view op, ExprId value,
                          const DeclaredType* declared, std::optional<std::uint32_t> component) {
  std::optional<Type> type;
  if (declared != nullptr) type = declared->type;
  const Context ctx{type ? *type == Type::Long : wide_, type == Type::Int};
  Value v = evaluate(value, ctx);
  const SourceRange& where = expr(value).where;
  if (declared != nullptr && !component) v = arithmetic_.promoted(declared->shape, v, ctx, where);
  Slot next = slot(at);
  if (component) {
    v = with_component(next, *component, lvalue, op, v, ctx);
  } else if (declared != nullptr && !arithmetic_.has_shape(declared->shape, v, where)) {
    v = {};
  } else if (op != "=") {
    const bool minus = op == "-=";
    if (next.state == SlotState::Unassigned && op == "*=") {
      error(Code::NotAssigned, lvalue.where,
            in_quotes(lvalue.name) + " is multiplied before it is assigned")
          .help("a product of several factors starts with `" + std::string(lvalue.name) + " = 1;`");
      v = {};
    } else if (next.state == SlotState::Unassigned) {
      // It starts as zero: nothing is added to the first term.
      next.accumulates = true;
      if (minus) v = arithmetic_.negate(v, where);
    } else if (next.state == SlotState::Partial) {
      error(Code::PartlyAssigned, lvalue.where,
            in_quotes(lvalue.name) + " is assigned under a condition only")
          .note(next.where, "assigned here");
      v = {};
    } else {
      mark_read(next.definition);
      v = arithmetic_.combine(updated_by(op), next.value, v, ctx, joined(lvalue.where, where));
    }
  } else {
    next.accumulates = false;
    const auto old = next.definition;
    if (old >= 0 && branches_ == 0 && !definitions_[index(old)].read) {
      const std::int32_t site = definitions_[index(old)].site;
      if (site >= 0) sites_[index(site)].overwritten = lvalue.where;
    }
  }
  if (type) v = arithmetic_.convert(*type, v, where);
  if (!type && wide_ && (v.kind == Kind::Number || v.has_parts())) widen(v);
  keep_name(lvalue, v);
  next.state = SlotState::Assigned;
  next.value = v;
  next.definition = definition_at(lvalue);
  AssignmentSite& site = sites_[index(definitions_[index(next.definition)].site)];
  site.literal = op == "=" && expr(value).kind == ExprKind::Literal;
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
    error(Code::BadStep, expr(s.step).where, "the step of a loop must not be zero");
    return;
  }
  Name& n = add_name(NameKind::Constant, s.lvalue.name, s.lvalue.where);
  if (!first || !last || !step) {
    run(s.body);  // once, with an unknown loop variable, to report errors
  } else {
    unroll_loop(s, n, *first, *last, *step);
  }
  scope().erase(s.lvalue.name);
}

void Builder::unroll_loop(const Statement& s, Name& n, std::int64_t first, std::int64_t last,
                          std::int64_t step) {
  if (step > 0 ? first > last : first < last) leave_out(s.body);
  for (std::int64_t k = first; step > 0 ? k <= last : k >= last; k += step) {
    if (!charge_statement(s.where)) return;
    n.value = constant_int(k);
    messages_.frames.push_back(
        {s.lvalue.where, "in this loop, with " + std::string(n.name) + " = " + std::to_string(k)});
    run(s.body);
    messages_.frames.pop_back();
  }
}

void Builder::skip(const Statement& s) {
  any_statement_ = true;
  const SourceRange& where = expr(s.value).where;
  const Value c = test(s.value);
  if (c.poison()) return;
  not_skipped_ = arithmetic_.both(
      not_skipped_, arithmetic_.invert(arithmetic_.both(path_, c, where), where), where);
}

/// Restore the slots assigned since the trail had size `mark`; returns their later values.
Builder::Slots Builder::undo(std::size_t mark) {
  Slots since;
  while (trail_.size() > mark) {
    auto& [at, before] = trail_.back();
    since.try_emplace(at, slot(at));
    slot(at) = std::move(before);
    trail_.pop_back();
  }
  return since;
}

void Builder::branch(const Statement& s) {
  any_statement_ = true;
  const SourceRange& where = expr(s.value).where;
  const Value c = test(s.value);
  if (c.constant) {
    if (c.truth || s.other != none) run(c.truth ? s.body : s.other);
    if (!c.truth || s.other != none) leave_out(c.truth ? s.other : s.body);
    return;
  }
  // After an invalid condition the branches are still checked for errors.
  const Value outer = path_;
  const std::size_t mark = trail_.size();
  ++branches_;
  if (!c.poison()) path_ = arithmetic_.both(outer, c, where);
  run(s.body);
  const Slots yes = undo(mark);
  Slots no;
  if (s.other != none) {
    if (!c.poison()) path_ = arithmetic_.both(outer, arithmetic_.invert(c, where), where);
    run(s.other);
    no = undo(mark);
  }
  --branches_;
  path_ = outer;
  merge(c, yes, no, where);
}

void Builder::merge(const Value& condition, const Slots& yes, const Slots& no,
                    const SourceRange& where) {
  Slots changed = yes;
  changed.insert(no.begin(), no.end());
  for (const auto& [at, last] : changed) {
    const auto in_yes = yes.find(at);
    const auto in_no = no.find(at);
    Slot a = in_yes != yes.end() ? in_yes->second : slot(at);
    Slot b = in_no != no.end() ? in_no->second : slot(at);
    // A slot that only accumulates is zero where nothing was added.
    const auto start_at_zero = [](Slot& s, const Slot& other) {
      if (s.state != SlotState::Unassigned || !other.accumulates) return;
      s.state = SlotState::Assigned;
      s.value = zero_of(other.value.shape());
      s.accumulates = true;
    };
    start_at_zero(a, b);
    start_at_zero(b, a);
    Slot merged = last;
    merged.accumulates = a.accumulates && b.accumulates;
    merged.state = a.state == SlotState::Assigned && b.state == SlotState::Assigned
                       ? SlotState::Assigned
                       : SlotState::Partial;
    merged.value = {};
    if (merged.state == SlotState::Assigned)
      merged.value = arithmetic_.choose(condition, a.value, b.value, {}, where);
    definitions_.push_back({none, a.definition, b.definition, false});
    merged.definition = static_cast<std::int32_t>(definitions_.size() - 1);
    set(at, std::move(merged));
  }
}

}  // namespace gdr::kc::front
