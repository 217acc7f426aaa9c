// Declarations: variables of the interface, constants, typed temporaries, settings.
#include <algorithm>

#include "emulator/assembler/front/report.hpp"
#include "kernels/compiler/front/builder.hpp"

namespace gdr::kc::front {

using assembly::in_quotes;

std::optional<std::vector<std::int64_t>> Builder::sizes_of(const Place& place) {
  std::vector<std::int64_t> sizes;
  std::int64_t count = 1;
  for (const ExprId id : place.indices) {
    const auto size = constant_integer(id, "the size of an array");
    if (!size) return std::nullopt;
    if (*size < 1 || *size > static_cast<std::int64_t>(most_elements) ||
        (count *= *size) > static_cast<std::int64_t>(most_elements)) {
      messages_.error(Code::BadSize, expr(id).where, "an array has 1 to 65536 elements",
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
                    s.table ? "only a CONST is a table" : "a condition is no input and no result",
                    {}, s.table ? "" : "long, short and int are possible");
    return;
  }
  if (s.list && (s.variable_kind != VarKind::Result || s.type.value_or(Type::Int) != Type::Int)) {
    const bool result = s.variable_kind == VarKind::Result;
    messages_.error(Code::TypeNotPossible, s.where,
                    result ? "a list holds ints" : "only a VARF is a list", {},
                    result ? "leave the type out, and append the number of the source" : "");
    return;
  }
  for (const DeclaredItem& item : s.items) declare_item(s, item);
}

void Builder::declare_item(const Statement& s, const DeclaredItem& item) {
  if (!is_free(item.place.name, item.place.where)) return;
  if (item.value != none) return declare_constant(s, item);
  const NameKind kind = s.table                              ? NameKind::Table
                        : s.list                             ? NameKind::List
                        : s.variable_kind == VarKind::Result ? NameKind::Result
                                                             : NameKind::Input;
  const auto sizes = sizes_of(item.place);
  Name& n = add_name(kind, item.place.name, item.place.where);
  n.type = s.list ? Type::Int : s.type;
  n.first = static_cast<std::int32_t>(graph_.variables.size());
  if (s.list && sizes && sizes->size() != 1) {
    messages_.error(Code::BadSize, n.where,
                    sizes->empty() ? "a list has a capacity" : "a list has a single capacity", {},
                    "as in `VARF list " + std::string(n.name) + "[32];`");
    n.kind = NameKind::Constant;
    return;
  }
  if (!sizes || (s.table && sizes->empty())) {
    if (sizes)
      messages_.error(Code::BadSize, n.where, "a table has a size", {},
                      "as in `CONST table " + std::string(n.name) + "[16];`");
    n.kind = NameKind::Constant;  // a poisoned one, so that its uses are not reported as well
    return;
  }
  n.sizes = *sizes;
  declare_variables(s, item, n);
}

/// One variable for a scalar or a table, one for each element of an array.
void Builder::declare_variables(const Statement& s, const DeclaredItem& item, Name& n) {
  GraphVariable v;
  v.kind = s.variable_kind;
  v.type = s.list ? Type::Int : s.type.value_or(Type::Long);
  v.type_given = s.list || s.type.has_value();
  v.where = item.place.where;
  std::int64_t count = 1;
  for (const std::int64_t size : n.sizes) count *= size;
  if (s.table) v.table_size = static_cast<std::uint32_t>(count);
  if (s.list) v.list_size = static_cast<std::uint32_t>(count);
  const bool single = s.table || s.list;
  if (single) count = 1;
  if (graph_.variables.size() + static_cast<std::size_t>(count) > most_elements) {
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
      messages_.error(Code::NameTaken, n.where, "the name " + in_quotes(v.name) + " is taken",
                      "an element of an array has this name");
    graph_.variables.push_back(v);
    results_.emplace_back();
    for (std::uint32_t k = 0; k < std::max(v.list_size, v.table_size); ++k)
      if (!variable_names_.insert(v.name + "_" + std::to_string(k)).second)
        messages_.error(Code::NameTaken, n.where,
                        "the name " + in_quotes(v.name + "_" + std::to_string(k)) + " is taken",
                        s.list ? "an entry of the list has this name"
                               : "an element of the table has this name");
  }
}

void Builder::declare_constant(const Statement& s, const DeclaredItem& item) {
  const Place& place = item.place;
  Name& n = add_name(NameKind::Constant, place.name, place.where);
  if (s.variable_kind != VarKind::Param || s.table || !place.indices.empty()) {
    messages_.error(Code::CannotAssign, place.where, "only a single CONST is declared with a value",
                    {}, "the host sets everything else");
    return;
  }
  if (!constant_value(item.value, "the value of a CONST")) return;
  n.value = evaluate(item.value, {s.type == Type::Long, s.type == Type::Int});
  if (s.type) n.value = arithmetic_.convert(*s.type, n.value, expr(item.value).where);
}

/// `long t = ...;` or `short d[3];`. A loop runs its declarations again and again.
void Builder::local(const Statement& s) {
  any_statement_ = true;
  for (const DeclaredItem& item : s.items) {
    const Place& place = item.place;
    const Scope& scope = local_ != nullptr ? *local_ : global_;
    const auto it = scope.find(place.name);
    Name* n = it == scope.end() ? nullptr : it->second;
    const bool again = n != nullptr && n->kind == NameKind::Temporary &&
                       n->where.file == place.where.file && n->where.line == place.where.line &&
                       n->where.column == place.where.column;
    if (n != nullptr && !again) {
      name_taken(*n, place.where);
      continue;
    }
    const bool is_array = !place.indices.empty();
    if (is_array && item.value != none) {
      messages_.error(Code::BadSize, place.where, "an array gets its values one by one");
      continue;
    }
    if (!again) {
      const auto sizes = sizes_of(place);
      n = &add_name(NameKind::Temporary, place.name, place.where);
      n->type = s.type;
      if (!sizes) {
        n->kind = NameKind::Constant;
        continue;
      }
      n->sizes = *sizes;
      std::int64_t count = 1;
      for (const std::int64_t size : n->sizes) count *= size;
      n->first = static_cast<std::int32_t>(slots_.size());
      if (slots_.size() + static_cast<std::size_t>(count) > most_nodes)
        return too_large(place.where, "more than a million temporaries");
      slots_.resize(slots_.size() + static_cast<std::size_t>(count));
    }
    if (item.value != none) assign_slot(n->first, place, TokenKind::Equals, item.value, n->type);
  }
}

void Builder::setting(const Statement& s) {
  std::optional<SourceRange>& before = s.kind == StatementKind::Kernel  ? kernel_at_
                                       : s.kind == StatementKind::Flops ? flops_at_
                                                                        : precision_at_;
  if (before) {
    Diagnostic& d = messages_.error(Code::SettingTwice, s.where, "this was said already");
    d.notes.push_back({*before, "said here"});
    return;
  }
  before = s.where;
  if (s.kind == StatementKind::Kernel) {
    graph_.name = std::string(s.place.name);
  } else if (s.kind == StatementKind::Flops) {
    const auto flops = constant_value(s.value, "the number of operations");
    if (flops && *flops >= 0)
      graph_.flops = *flops;
    else if (flops)
      messages_.error(Code::NoValue, expr(s.value).where, "the number of operations is negative");
  } else if (any_statement_) {
    messages_.error(Code::SettingLate, s.where, "the precision is set before the first assignment");
  } else {
    wide_ = s.type == Type::Long;
  }
}

}  // namespace gdr::kc::front
