#include "kernels/compiler/front/builder.hpp"

#include "emulator/assembler/front/report.hpp"

namespace gdr::kc::front {

using assembly::in_quotes;

Builder::Builder(const Program& program, Messages& messages)
    : program_(program), messages_(messages), arithmetic_(nodes_, messages) {
  for (const Statement& s : program.statements) {
    if (s.kind == StatementKind::Assign)
      assigned_somewhere_.try_emplace(s.lvalue.name, s.lvalue.where);
  }
}

Graph Builder::build(std::string name) {
  graph_.name = std::move(name);
  check_functions();
  run(program_.top);
  bool any_result = false;
  for (const GraphVariable& v : graph_.variables) any_result |= v.kind == VarKind::Result;
  if (!any_result && messages_.errors() == 0) {
    messages_.error(Code::NoResult, {0, 1, 1, 2}, "the kernel has no result", {},
                    "declare one, `VARF ax;`, and add to it, `ax += ...;`");
  }
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
  Name& n = names_.emplace_back();
  n.kind = kind;
  n.name = name;
  n.where = where;
  Scope& scope = local_ != nullptr ? *local_ : global_;
  scope[name] = &n;
  return n;
}

void Builder::name_taken(const Name& n, const SourceRange& where) {
  Diagnostic& d = messages_.error(Code::NameTaken, where,
                                  "the name " + in_quotes(n.name) + " is already declared");
  d.notes.push_back({n.where, n.kind == NameKind::Temporary ? "used here first" : "declared here"});
}

bool Builder::is_free(std::string_view name, const SourceRange& where) {
  const Scope& scope = local_ != nullptr ? *local_ : global_;
  const auto it = scope.find(name);
  if (it == scope.end()) return true;
  name_taken(*it->second, where);
  return false;
}

std::int32_t Builder::new_slot() {
  row_of_time_.emplace_back();
  return static_cast<std::int32_t>(row_of_time_.size() - 1);
}

void Builder::set(std::int32_t index, Slot to) {
  if (branches_ > 0) trail_.emplace_back(index, slot(index));
  slot(index) = std::move(to);
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
    Definition& d = definitions_[static_cast<std::size_t>(id)];
    if (d.read) continue;
    d.read = true;
    if (d.site >= 0) sites_[static_cast<std::size_t>(d.site)].read = true;
    open.push_back(d.first);
    open.push_back(d.second);
  }
}

void Builder::too_large(const SourceRange& where, const char* what) {
  if (!stopped_)
    messages_.error(Code::TooLarge, where, std::string("the kernel is too large: ") + what);
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
      messages_.warning(Code::UnusedInput, n.where, in_quotes(n.name) + " is never used", {},
                        "it is still transferred to the chip; remove it");
    if (n.kind != NameKind::Result && n.kind != NameKind::List) continue;
    std::int64_t count = 1;
    if (n.kind == NameKind::Result)
      for (const std::int64_t size : n.sizes) count *= size;
    bool any = false;
    for (std::int64_t i = 0; i < count; ++i)
      any |= results_[static_cast<std::size_t>(n.first + i)].used;
    if (!any)
      messages_.warning(Code::EmptyResult, n.where, in_quotes(n.name) + " has no contribution",
                        n.kind == NameKind::List ? "it remains empty" : "it remains zero");
  }
  for (const AssignmentSite& s : sites_) {
    if (s.read) continue;
    Diagnostic& d = messages_.warning(Code::UnusedValue, s.where,
                                      "this value of " + in_quotes(s.name) + " is never used");
    if (s.overwritten) d.notes.push_back({*s.overwritten, "overwritten here"});
  }
}

}  // namespace gdr::kc::front
