// Names, scopes and declarations.
#include "kernels/compiler/front/builder.hpp"

#include <algorithm>
#include <cmath>

#include "emulator/assembler/flops_limit.hpp"
#include "emulator/assembler/front/report.hpp"

namespace gdr::kc::front {
namespace {

using assembly::in_quotes;

/// Whether a value in a declaration is that of items for which the host has none.
bool is_default(const Statement& s) {
  const bool item = s.variable_kind == VarKind::Target || s.variable_kind == VarKind::Source;
  return item && s.type == Type::Int;
}

}  // namespace

Builder::Builder(const Program& program, Messages& messages)
    : program_(program), messages_(messages), arithmetic_(nodes_, messages) {
  for (const Statement& s : program.statements)
    if (s.kind == StatementKind::Assign && s.op.ends_with('='))
      assigned_somewhere_.try_emplace(s.lvalue.name, s.lvalue.where);
}

Graph Builder::build(std::string name) {
  graph_.name = std::move(name);
  check_functions();
  run(program_.top);
  if (std::ranges::count(graph_.variables, VarKind::Result, &GraphVariable::kind) == 0 &&
      messages_.errors() == 0) {
    error(Code::NoResult, {0, 1, 1, 2}, "the kernel has no result")
        .help("declare one, `VARF ax;`, and add to it, `ax += ...;`");
  }
  keep_reductions();
  warn_unused();
  graph_.nodes = nodes_.release();
  drop_unused_nodes(graph_);
  return std::move(graph_);
}

/// A function sees its own names, and those of the kernel except temporaries.
Name* Builder::find(std::string_view name) {
  if (local_ != nullptr) {
    const auto it = local_->find(name);
    if (it != local_->end()) return it->second;
  }
  const auto it = global_.find(name);
  if (it == global_.end()) return nullptr;
  const bool hidden = local_ != nullptr && it->second->kind == NameKind::Temporary;
  return hidden ? nullptr : it->second;
}

Name& Builder::add_name(NameKind kind, std::string_view name, const SourceRange& where) {
  Name& n = names_.emplace_back(Name{.kind = kind, .name = name, .where = where});
  scope()[name] = &n;
  return n;
}

void Builder::name_taken(const Name& n, const SourceRange& where) {
  error(Code::NameTaken, where, "the name " + in_quotes(n.name) + " is already declared")
      .note(n.where, n.kind == NameKind::Temporary ? "used here first" : "declared here");
}

bool Builder::is_free(std::string_view name, const SourceRange& where) {
  const auto it = scope().find(name);
  if (it == scope().end()) return true;
  name_taken(*it->second, where);
  return false;
}

std::int32_t Builder::new_slot() {
  slots_.emplace_back();
  return static_cast<std::int32_t>(slots_.size() - 1);
}

void Builder::set(std::int32_t at, Slot to) {
  if (branches_ > 0) trail_.emplace_back(at, slot(at));
  slot(at) = std::move(to);
}

/// A new value of `lvalue`, for warnings about unused values.
std::int32_t Builder::definition_at(const LValue& lvalue) {
  const SourceRange& where = lvalue.where;
  const auto [it, is_new] = site_at_.try_emplace({where.file, where.line, where.column},
                                                 static_cast<std::int32_t>(sites_.size()));
  if (is_new) sites_.push_back({where, lvalue.name, false, std::nullopt});
  definitions_.push_back({it->second, -1, -1, false});
  return static_cast<std::int32_t>(definitions_.size() - 1);
}

void Builder::mark_read(std::int32_t definition) {
  std::vector<std::int32_t> open{definition};
  while (!open.empty()) {
    const std::int32_t id = open.back();
    open.pop_back();
    if (id < 0) continue;
    Definition& d = definitions_[index(id)];
    if (d.read) continue;
    d.read = true;
    if (d.site >= 0) sites_[index(d.site)].read = true;
    open.push_back(d.first);
    open.push_back(d.second);
  }
}

void Builder::too_large(const SourceRange& where, const char* what) {
  if (!stopped_) error(Code::TooLarge, where, std::string("the kernel is too large: ") + what);
  stopped_ = true;
}

bool Builder::charge(std::size_t& used, std::size_t most, const SourceRange& where,
                     const char* what) {
  if (stopped_) return false;
  if (++used <= most) return true;
  too_large(where, what);
  return false;
}

void Builder::warn_unused() {
  if (messages_.errors() > 0) return;  // an erroneous expression may have used it
  for (const Name& n : names_) {
    const bool input = n.kind == NameKind::Input || n.kind == NameKind::Table;
    if (input && !n.used)
      messages_.warning(Code::UnusedInput, n.where, in_quotes(n.name) + " is never used")
          .help("it is still transferred to the chip; remove it");
    if (n.kind != NameKind::Result && n.kind != NameKind::List) continue;
    const auto count = n.kind == NameKind::Result ? n.count() * info(n.shape).count : 1;
    bool any = false;
    for (std::size_t i = 0; i < count; ++i) any |= results_[index(n.first) + i].used;
    if (!any)
      messages_.warning(Code::EmptyResult, n.where, in_quotes(n.name) + " has no contribution")
          .label(n.kind == NameKind::List                               ? "it remains empty"
                 : graph_.variable(n.first).reduction == Reduction::Sum ? "it remains zero"
                                                                        : "it remains infinite");
  }
  warn_unused_values();
}

/// Compilers that generate kernels initialise their temporaries with numbers: one warning for all
/// of these.
void Builder::warn_unused_values() {
  std::vector<const AssignmentSite*> literals;
  for (const AssignmentSite& s : sites_)
    if (!s.read && s.literal) literals.push_back(&s);
  const bool many = literals.size() > 3;
  if (many) {
    constexpr std::size_t most = 4;
    std::string names;
    for (std::size_t k = 0; k < std::min(most, literals.size()); ++k)
      names += (k == 0 ? "" : ", ") + in_quotes(literals[k]->name);
    if (literals.size() > most) names += " and " + std::to_string(literals.size() - most) + " more";
    messages_
        .warning(Code::UnusedValue, literals.front()->where,
                 "the numbers assigned to " + names + " are never used")
        .help("temporaries need no initial value");
  }
  for (const AssignmentSite& s : sites_) {
    if (s.read || (many && s.literal)) continue;
    Message d = messages_.warning(Code::UnusedValue, s.where,
                                  "this value of " + in_quotes(s.name) + " is never used");
    if (s.overwritten) d.note(*s.overwritten, "overwritten here");
  }
}

std::optional<std::vector<std::int64_t>> Builder::sizes_of(const LValue& lvalue) {
  std::vector<std::int64_t> sizes;
  std::int64_t count = 1;
  for (const ExprId id : lvalue.indices) {
    const auto size = constant_integer(id, "the size of an array");
    if (!size) return std::nullopt;
    if (*size < 1 || *size > static_cast<std::int64_t>(max_array_elements) ||
        (count *= *size) > static_cast<std::int64_t>(max_array_elements)) {
      error(Code::BadSize, expr(id).where, "the size of an array must be 1 to 65536")
          .label(std::to_string(*size) + " is given");
      return std::nullopt;
    }
    sizes.push_back(*size);
  }
  return sizes;
}

void Builder::declare(const Statement& s) {
  const bool is_const = s.variable_kind == VarKind::Param;
  if (s.type == Type::Bool || (s.table && !is_const)) {
    error(Code::TypeNotPossible, s.where,
          s.table ? "only a CONST can be a table" : "inputs and results cannot be bool")
        .help(s.table ? "" : "use long, short or int");
    return;
  }
  if (s.list && (s.variable_kind != VarKind::Result || s.type.value_or(Type::Int) != Type::Int)) {
    const bool result = s.variable_kind == VarKind::Result;
    error(Code::TypeNotPossible, s.where,
          result ? "a list must be of type int" : "only a VARF can be a list")
        .help(result ? "omit the type, and append the index of the source" : "");
    return;
  }
  if (s.shape != Shape::Scalar && (s.table || s.list || s.type == Type::Int)) {
    error(Code::TypeNotPossible, s.where,
          "the components of a " + std::string(info(s.shape).name) + " are " +
              (s.type == Type::Int ? "not ints" : "not elements of a table or list"))
        .help("declare single variables instead");
    return;
  }
  if (!s.quantity.empty() && s.variable_kind == VarKind::Result) {
    error(Code::TypeNotPossible, s.where, "a VARF has no quantity")
        .help("only VARI, VARJ and CONST are filled by the host");
    return;
  }
  for (const DeclaredItem& item : s.items) declare_item(s, item);
}

void Builder::declare_item(const Statement& s, const DeclaredItem& item) {
  if (!is_free(item.lvalue.name, item.lvalue.where)) return;
  if (item.value != none && !is_default(s)) return declare_constant(s, item);
  const NameKind kind = s.table                              ? NameKind::Table
                        : s.list                             ? NameKind::List
                        : s.variable_kind == VarKind::Result ? NameKind::Result
                                                             : NameKind::Input;
  const auto sizes = sizes_of(item.lvalue);
  Name& n = add_name(kind, item.lvalue.name, item.lvalue.where);
  n.type = s.list ? Type::Int : s.type;
  n.shape = s.shape;
  n.first = static_cast<std::int32_t>(graph_.variables.size());
  if (s.list && sizes && sizes->size() != 1) {
    error(Code::BadSize, n.where,
          sizes->empty() ? "a list needs a capacity" : "a list has only one capacity")
        .help("for example `VARF list " + std::string(n.name) + "[32];`");
    n.kind = NameKind::Constant;
    return;
  }
  if (!sizes || (s.table && sizes->empty())) {
    if (sizes)
      error(Code::BadSize, n.where, "a table needs a size")
          .help("for example `CONST table " + std::string(n.name) + "[16];`");
    n.kind = NameKind::Constant;  // poisoned, so that its uses are not reported
    return;
  }
  n.sizes = *sizes;
  declare_variables(s, item, n);
}

/// A constant of 36 bits, the size of ints.
std::optional<std::int64_t> Builder::default_integer(ExprId id) {
  const auto value = constant_integer(id, "a default value");
  constexpr std::int64_t limit = std::int64_t{1} << (Short::bit_count - 1);
  if (!value || (*value >= -limit && *value < limit)) return value;
  error(Code::IntegerNeeded, expr(id).where, "a default value must have 36 bits")
      .label("from " + std::to_string(-limit) + " to " + std::to_string(limit - 1));
  return std::nullopt;
}

/// One variable for a scalar or a table, one per element of an array and component of a vector.
void Builder::declare_variables(const Statement& s, const DeclaredItem& item, Name& n) {
  const bool single = s.table || s.list;
  std::vector<std::int64_t> sizes = n.sizes;
  if (n.shape != Shape::Scalar) sizes.push_back(n.components());
  const std::size_t count = single ? 1 : n.count() * info(n.shape).count;
  GraphVariable v;
  v.kind = s.variable_kind;
  v.type = s.list ? Type::Int : s.type.value_or(Type::Long);
  v.type_given = s.list || s.type.has_value();
  v.where = item.lvalue.where;
  v.quantity = std::string(s.quantity);
  v.squared = s.squared;
  if (item.value != none) v.default_value = default_integer(item.value);
  if (single) (s.table ? v.table_size : v.list_size) = static_cast<std::uint32_t>(n.count());
  if (graph_.variables.size() + count > max_array_elements) {
    n.kind = NameKind::Constant;
    return too_large(n.where, "more than 65536 variables");
  }
  const auto take_name = [&](const std::string& name, const char* owner) {
    if (!variable_names_.insert(name).second)
      error(Code::NameTaken, n.where, "the name " + in_quotes(name) + " is already declared")
          .label(std::string(owner) + " has this name");
  };
  if (single) sizes.assign(1, static_cast<std::int64_t>(n.count()));
  if (!sizes.empty() && sizes.size() <= gdr::max_array_indices)
    graph_.arrays.push_back({std::string(n.name),
                             static_cast<std::uint32_t>(n.first),
                             {sizes.begin(), sizes.end()},
                             n.shape == Shape::Complex});
  for (std::size_t i = 0; i < count; ++i) {
    v.name = std::string(n.name);
    std::size_t below = count;
    for (std::size_t k = 0; k < sizes.size() && !single; ++k) {
      const auto size = static_cast<std::size_t>(sizes[k]);
      below /= size;
      v.name += "_" + std::to_string(i / below % size);
    }
    take_name(v.name, "an element of an array");
    graph_.variables.push_back(v);
    results_.emplace_back();
    for (std::uint32_t k = 0; k < std::max(v.list_size, v.table_size); ++k)
      take_name(v.name + "_" + std::to_string(k),
                s.list ? "an entry of the list" : "an element of the table");
  }
}

void Builder::declare_constant(const Statement& s, const DeclaredItem& item) {
  const LValue& lvalue = item.lvalue;
  Name& n = add_name(NameKind::Constant, lvalue.name, lvalue.where);
  if (s.variable_kind != VarKind::Param || s.table || !lvalue.indices.empty()) {
    error(Code::CannotAssign, lvalue.where, "only a single CONST can be declared with a value")
        .help("the host sets all other variables; an int VARI or VARJ may have a default value");
    return;
  }
  if (!s.quantity.empty()) {
    error(Code::CannotAssign, lvalue.where, "a CONST with a value has no quantity")
        .help("the host does not set it");
    return;
  }
  Value v = evaluate(item.value, {s.type == Type::Long, s.type == Type::Int});
  const bool constant = v.has_parts() && std::ranges::all_of(v.parts, &Value::constant);
  if (!constant && !constant_value(item.value, "the value of a CONST")) return;
  v = arithmetic_.promoted(s.shape, v, {s.type == Type::Long, false}, expr(item.value).where);
  const bool inferred = !s.type && s.shape == Shape::Scalar;
  if (!inferred && !arithmetic_.has_shape(s.shape, v, expr(item.value).where)) return;
  n.value = std::move(v);
  if (s.type) n.value = arithmetic_.convert(*s.type, n.value, expr(item.value).where);
}

/// `long t = ...;` or `short d[3];`. Loops repeat their declarations.
void Builder::local(const Statement& s) {
  any_statement_ = true;
  for (const DeclaredItem& item : s.items) {
    const LValue& lvalue = item.lvalue;
    const auto it = scope().find(lvalue.name);
    Name* n = it == scope().end() ? nullptr : it->second;
    const bool again = n != nullptr && n->kind == NameKind::Temporary &&
                       n->where.file == lvalue.where.file && n->where.line == lvalue.where.line &&
                       n->where.column == lvalue.where.column;
    if (n != nullptr && !again) {
      name_taken(*n, lvalue.where);
      continue;
    }
    const bool is_array = !lvalue.indices.empty();
    if (is_array && item.value != none) {
      error(Code::BadSize, lvalue.where, "an array cannot be initialised; assign its elements");
      continue;
    }
    if (s.shape != Shape::Scalar && (s.type == Type::Int || s.type == Type::Bool)) {
      error(Code::TypeNotPossible, s.where,
            "the components of a " + std::string(info(s.shape).name) + " are long or short");
      continue;
    }
    if (!again) {
      const auto sizes = sizes_of(lvalue);
      n = &add_name(NameKind::Temporary, lvalue.name, lvalue.where);
      n->type = s.type;
      n->shape = s.shape;
      n->declared = true;
      if (!sizes) {
        n->kind = NameKind::Constant;
        continue;
      }
      n->sizes = *sizes;
      n->first = static_cast<std::int32_t>(slots_.size());
      if (slots_.size() + n->count() > max_nodes)
        return too_large(lvalue.where, "more than a million temporaries");
      slots_.resize(slots_.size() + n->count());
    }
    const DeclaredType declared{n->type, n->shape};
    if (item.value != none) assign_slot(n->first, lvalue, "=", item.value, &declared);
  }
}

void Builder::setting(const Statement& s) {
  const auto [first, is_new] = settings_.try_emplace(s.kind, s.where);
  if (!is_new) {
    error(Code::SettingTwice, s.where, "this setting is already given")
        .note(first->second, "given here");
    return;
  }
  if (s.kind == StatementKind::Kernel) {
    graph_.name = std::string(s.lvalue.name);
  } else if (s.kind == StatementKind::Flops) {
    const auto flops = constant_value(s.value, "the number of operations");
    if (flops && (*flops == 0 || (*flops > 0 && std::isnormal(*flops) && *flops <= max_flops)))
      graph_.flops = *flops;
    else if (flops)
      error(Code::NoValue, expr(s.value).where,
            *flops < 0           ? "the number of operations is negative"
            : *flops > max_flops ? "the number of operations is above 1e15"
                                 : "the number of operations is below 2^-1022");
  } else if (any_statement_) {
    error(Code::SettingLate, s.where, "the precision must precede the first assignment");
  } else {
    wide_ = s.type == Type::Long;
  }
}

}  // namespace gdr::kc::front
