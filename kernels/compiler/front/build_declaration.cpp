// Declarations: interface variables, constants, typed temporaries, settings.
#include <algorithm>

#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/builder.hpp"

namespace gdr::kc::front {

using assembly::in_quotes;

std::optional<std::vector<std::int64_t>> Builder::sizes_of(const LValue& lvalue) {
  std::vector<std::int64_t> sizes;
  std::int64_t count = 1;
  for (const ExprId id : lvalue.indices) {
    const auto size = constant_integer(id, "the size of an array");
    if (!size) return std::nullopt;
    if (*size < 1 || *size > static_cast<std::int64_t>(max_array_elements) ||
        (count *= *size) > static_cast<std::int64_t>(max_array_elements)) {
      messages_.error(Code::BadSize, expr(id).where, "the size of an array must be 1 to 65536",
                      std::to_string(*size) + " is given");
      return std::nullopt;
    }
    sizes.push_back(*size);
  }
  return sizes;
}

void Builder::declare(const Statement& s) {
  const bool is_const = s.variable_kind == VarKind::Param;
  if (s.type == Type::Bool || (s.table && !is_const)) {
    messages_.error(Code::TypeNotPossible, s.where,
                    s.table ? "only a CONST can be a table" : "inputs and results cannot be bool",
                    {}, s.table ? "" : "use long, short or int");
    return;
  }
  if (s.list && (s.variable_kind != VarKind::Result || s.type.value_or(Type::Int) != Type::Int)) {
    const bool result = s.variable_kind == VarKind::Result;
    messages_.error(Code::TypeNotPossible, s.where,
                    result ? "a list must be of type int" : "only a VARF can be a list", {},
                    result ? "omit the type, and append the index of the source" : "");
    return;
  }
  for (const DeclaredItem& item : s.items) declare_item(s, item);
}

void Builder::declare_item(const Statement& s, const DeclaredItem& item) {
  if (!is_free(item.lvalue.name, item.lvalue.where)) return;
  if (item.value != none) return declare_constant(s, item);
  const NameKind kind = s.table                              ? NameKind::Table
                        : s.list                             ? NameKind::List
                        : s.variable_kind == VarKind::Result ? NameKind::Result
                                                             : NameKind::Input;
  const auto sizes = sizes_of(item.lvalue);
  Name& n = add_name(kind, item.lvalue.name, item.lvalue.where);
  n.type = s.list ? Type::Int : s.type;
  n.first = static_cast<std::int32_t>(graph_.variables.size());
  if (s.list && sizes && sizes->size() != 1) {
    messages_.error(Code::BadSize, n.where,
                    sizes->empty() ? "a list needs a capacity" : "a list has only one capacity", {},
                    "for example `VARF list " + std::string(n.name) + "[32];`");
    n.kind = NameKind::Constant;
    return;
  }
  if (!sizes || (s.table && sizes->empty())) {
    if (sizes)
      messages_.error(Code::BadSize, n.where, "a table needs a size", {},
                      "for example `CONST table " + std::string(n.name) + "[16];`");
    n.kind = NameKind::Constant;  // poisoned, so that its uses are not reported
    return;
  }
  n.sizes = *sizes;
  declare_variables(s, item, n);
}

/// One variable for a scalar or a table, one per element of an array.
void Builder::declare_variables(const Statement& s, const DeclaredItem& item, Name& n) {
  GraphVariable v;
  v.kind = s.variable_kind;
  v.type = s.list ? Type::Int : s.type.value_or(Type::Long);
  v.type_given = s.list || s.type.has_value();
  v.where = item.lvalue.where;
  std::int64_t count = 1;
  for (const std::int64_t size : n.sizes) count *= size;
  if (s.table) v.table_size = static_cast<std::uint32_t>(count);
  if (s.list) v.list_size = static_cast<std::uint32_t>(count);
  const bool single = s.table || s.list;
  if (single) count = 1;
  if (graph_.variables.size() + static_cast<std::size_t>(count) > max_array_elements) {
    n.kind = NameKind::Constant;
    return too_large(n.where, "more than 65536 variables");
  }
  for (std::int64_t i = 0; i < count; ++i) {
    v.name = std::string(n.name);
    if (!single) {
      std::int64_t below = count;
      for (const std::int64_t size : n.sizes) {
        below /= size;
        v.name += "_" + std::to_string(i / below % size);
      }
    }
    if (!variable_names_.insert(v.name).second)
      messages_.error(Code::NameTaken, n.where,
                      "the name " + in_quotes(v.name) + " is already declared",
                      "an element of an array has this name");
    graph_.variables.push_back(v);
    results_.emplace_back();
    for (std::uint32_t k = 0; k < std::max(v.list_size, v.table_size); ++k)
      if (!variable_names_.insert(v.name + "_" + std::to_string(k)).second)
        messages_.error(
            Code::NameTaken, n.where,
            "the name " + in_quotes(v.name + "_" + std::to_string(k)) + " is already declared",
            s.list ? "an entry of the list has this name"
                   : "an element of the table has this name");
  }
}

void Builder::declare_constant(const Statement& s, const DeclaredItem& item) {
  const LValue& lvalue = item.lvalue;
  Name& n = add_name(NameKind::Constant, lvalue.name, lvalue.where);
  if (s.variable_kind != VarKind::Param || s.table || !lvalue.indices.empty()) {
    messages_.error(Code::CannotAssign, lvalue.where,
                    "only a single CONST can be declared with a value", {},
                    "the host sets all other variables");
    return;
  }
  if (!constant_value(item.value, "the value of a CONST")) return;
  n.value = evaluate(item.value, {s.type == Type::Long, s.type == Type::Int});
  if (s.type) n.value = arithmetic_.convert(*s.type, n.value, expr(item.value).where);
}

/// `long t = ...;` or `short d[3];`. Loops repeat their declarations.
void Builder::local(const Statement& s) {
  any_statement_ = true;
  for (const DeclaredItem& item : s.items) {
    const LValue& lvalue = item.lvalue;
    const Scope& scope = local_ != nullptr ? *local_ : global_;
    const auto it = scope.find(lvalue.name);
    Name* n = it == scope.end() ? nullptr : it->second;
    const bool again = n != nullptr && n->kind == NameKind::Temporary &&
                       n->where.file == lvalue.where.file && n->where.line == lvalue.where.line &&
                       n->where.column == lvalue.where.column;
    if (n != nullptr && !again) {
      name_taken(*n, lvalue.where);
      continue;
    }
    const bool is_array = !lvalue.indices.empty();
    if (is_array && item.value != none) {
      messages_.error(Code::BadSize, lvalue.where,
                      "an array cannot be initialised; assign its elements");
      continue;
    }
    if (!again) {
      const auto sizes = sizes_of(lvalue);
      n = &add_name(NameKind::Temporary, lvalue.name, lvalue.where);
      n->type = s.type;
      if (!sizes) {
        n->kind = NameKind::Constant;
        continue;
      }
      n->sizes = *sizes;
      std::int64_t count = 1;
      for (const std::int64_t size : n->sizes) count *= size;
      n->first = static_cast<std::int32_t>(row_of_time_.size());
      if (row_of_time_.size() + static_cast<std::size_t>(count) > max_nodes)
        return too_large(lvalue.where, "more than a million temporaries");
      row_of_time_.resize(row_of_time_.size() + static_cast<std::size_t>(count));
    }
    if (item.value != none) assign_slot(n->first, lvalue, TokenKind::Equals, item.value, n->type);
  }
}

void Builder::setting(const Statement& s) {
  std::optional<SourceRange>& before = s.kind == StatementKind::Kernel  ? kernel_at_
                                       : s.kind == StatementKind::Flops ? flops_at_
                                                                        : precision_at_;
  if (before) {
    Diagnostic& d = messages_.error(Code::SettingTwice, s.where, "this setting is already given");
    d.notes.push_back({*before, "given here"});
    return;
  }
  before = s.where;
  if (s.kind == StatementKind::Kernel) {
    graph_.name = std::string(s.lvalue.name);
  } else if (s.kind == StatementKind::Flops) {
    const auto flops = constant_value(s.value, "the number of operations");
    if (flops && *flops >= 0)
      graph_.flops = *flops;
    else if (flops)
      messages_.error(Code::NoValue, expr(s.value).where, "the number of operations is negative");
  } else if (any_statement_) {
    messages_.error(Code::SettingLate, s.where, "the precision must precede the first assignment");
  } else {
    wide_ = s.type == Type::Long;
  }
}

}  // namespace gdr::kc::front
