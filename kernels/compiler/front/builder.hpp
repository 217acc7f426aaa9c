// Builds the graph by executing the statements of a program once: assignments create new values,
// loops are unrolled, functions inlined, conditions turned into selections and conditions of
// contributions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "kernels/compiler/front/arithmetic.hpp"
#include "kernels/compiler/front/ast.hpp"
#include "kernels/compiler/front/names.hpp"

namespace gdr::kc::front {

/// Limits far above sensible kernels, so that every compilation terminates soon.
constexpr std::size_t max_nodes = 1'000'000;
constexpr std::size_t max_statements = 100'000;     ///< statements executed, after unrolling
constexpr std::size_t max_operations = 10'000'000;  ///< evaluated expressions
constexpr std::size_t max_array_elements =
    65'536;  ///< elements of an array, and total number of variables
constexpr int max_call_depth = 64;
constexpr int max_evaluation_depth = 1000;  ///< nesting of expressions, through calls

using Arguments = std::vector<Value>;

class Builder {
 public:
  Builder(const Program& program, Messages& messages);

  /// The graph; invalid if there were errors.
  Graph build(std::string name);

 private:
  // build_expression.cpp, build_name.cpp
  Value evaluate(ExprId id, Context ctx);
  Value evaluate_kind(const Expr& e, Context ctx);
  Value chain(const Expr& e, Context ctx);
  Value choice(const Expr& e, Context ctx);
  Value read_name(const Expr& e);
  Value read_input(Name& n, const Expr& e);
  Value read_table(Name& n, const Expr& e);
  Value read_temporary(Name& n, const Expr& e);
  Value unknown_name(const Expr& e);
  std::optional<std::int64_t> constant_integer(ExprId id, const char* what);
  std::optional<double> constant_value(ExprId id, const char* what);
  /// Linear index of an element; nothing after an error.
  std::optional<std::int64_t> element(const Name& n, const std::vector<ExprId>& indices,
                                      const SourceRange& where);

  // build_call.cpp
  Value call(const Expr& e, Context ctx);
  Value call_builtin(const Expr& e, Context ctx);
  Value call_function(const Function& f, const Expr& e, Context ctx);
  Arguments arguments_of(const Expr& e, Context ctx);
  bool can_call(const Function& f, const Expr& e);
  void bind(const Function& f, const Expr& e, const Arguments& values, Context ctx);
  void check_functions();

  // build_declaration.cpp
  void declare(const Statement& s);
  void declare_item(const Statement& s, const DeclaredItem& item);
  void declare_constant(const Statement& s, const DeclaredItem& item);
  void declare_variables(const Statement& s, const DeclaredItem& item, Name& n);
  void local(const Statement& s);
  void setting(const Statement& s);
  std::optional<std::vector<std::int64_t>> sizes_of(const LValue& lvalue);

  // build_statement.cpp
  void run(BlockId block);
  void run(const Statement& s);
  void assign(const Statement& s);
  void assign_new(const Statement& s);
  void assign_slot(std::int32_t slot, const LValue& lvalue, TokenKind op, ExprId value,
                   std::optional<Type> type);
  std::int32_t row_of(Name& n, const LValue& lvalue);
  void cannot_assign(const Name& n, const LValue& lvalue, TokenKind op);
  void loop(const Statement& s);
  void unroll_loop(const Statement& s, Name& n, std::int64_t first, std::int64_t last,
                   std::int64_t step);

  // build_condition.cpp
  void branch(const Statement& s);
  void skip(const Statement& s);
  std::map<std::int32_t, Slot> undo(std::size_t mark);
  void merge(const Value& condition, const std::map<std::int32_t, Slot>& yes,
             const std::map<std::int32_t, Slot>& no, const SourceRange& where);

  // build_result.cpp
  void contribute(Name& n, const LValue& lvalue, Reduction reduction, bool negated, ExprId value,
                  const Statement* statement);
  void append(Name& n, const Statement& s);
  bool payload(const Statement& s, Contribution& c);
  bool claim(std::int32_t result, Reduction reduction, std::int32_t payload_result,
             const SourceRange& where);

  // Names and slots.
  Name* find(std::string_view name);
  Name& add_name(NameKind kind, std::string_view name, const SourceRange& where);
  bool is_free(std::string_view name, const SourceRange& where);
  void name_taken(const Name& n, const SourceRange& where);
  std::int32_t new_slot();
  Slot& slot(std::int32_t index) { return row_of_time_[static_cast<std::size_t>(index)]; }
  void set(std::int32_t index, Slot to);
  std::int32_t definition_at(const LValue& lvalue);
  void mark_read(std::int32_t definition);
  bool charge(std::size_t& used, std::size_t most, const SourceRange& where, const char* what);
  bool charge_statement(const SourceRange& where);
  void too_large(const SourceRange& where, const char* what);
  const Expr& expr(ExprId id) const { return program_.exprs[static_cast<std::size_t>(id)]; }

  void warn_unused();

  const Program& program_;
  Messages& messages_;
  NodeTable nodes_;
  Arithmetic arithmetic_;
  Graph graph_;

  std::deque<Name> names_;
  Scope global_;
  Scope* local_ = nullptr;  ///< names of the called function
  std::map<std::string_view, const Function*> functions_;
  std::vector<const Function*> calls_;
  std::map<std::string_view, SourceRange> assigned_somewhere_;
  std::set<std::string> variable_names_;

  std::vector<Slot> row_of_time_;
  /// Previous values of slots assigned under conditions.
  std::vector<std::pair<std::int32_t, Slot>> trail_;
  std::vector<Definition> definitions_;
  std::vector<AssignmentSite> sites_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::int32_t> site_at_;

  /// Reduction of a result, and where it was first used.
  struct ResultUse {
    bool used = false;
    Reduction reduction = Reduction::Sum;
    std::int32_t payload_result = -1;
    bool is_payload = false;
    SourceRange where;
  };
  std::vector<ResultUse> results_;

  Value path_ = constant_bool(true);         ///< condition of the current statement
  Value not_skipped_ = constant_bool(true);  ///< negated conditions of `skip if`
  int branches_ = 0;                         ///< nesting of conditions
  bool wide_ = false;                        ///< `precision long` is set
  std::optional<SourceRange> kernel_at_, flops_at_, precision_at_;
  bool any_statement_ = false;

  std::size_t statements_run_ = 0, operations_ = 0;
  int depth_ = 0;
  bool stopped_ = false;
};

}  // namespace gdr::kc::front
