// Builds the graph by executing the statements of a program once: assignments create new values,
// loops are unrolled, functions inlined, conditions turned into selections and conditions of
// contributions.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "kernels/compiler/front/arithmetic.hpp"
#include "kernels/compiler/front/ast.hpp"

namespace gdr::kc::front {

/// Limits far above sensible kernels, so that every compilation terminates soon.
constexpr std::size_t max_nodes = 1'000'000;
constexpr std::size_t max_statements = 100'000;     ///< statements executed, after unrolling
constexpr std::size_t max_operations = 10'000'000;  ///< evaluated expressions
constexpr std::size_t max_array_elements =
    65'536;  ///< elements of an array, and total number of variables
constexpr int max_call_depth = 64;
constexpr int max_evaluation_depth = 1000;  ///< nesting of expressions, through calls

enum class NameKind : std::uint8_t {
  Input,     ///< VARI, VARJ or CONST: read-only
  Table,     ///< CONST table
  Result,    ///< VARF: contributions only
  List,      ///< VARF list: append only
  Constant,  ///< CONST with a value, or loop variable
  Temporary,
};

struct Name {
  NameKind kind = NameKind::Temporary;
  std::string_view name = {};
  SourceRange where = {};                              ///< declaration, or first assignment
  std::optional<Type> type = {};                       ///< declared type of its numbers
  Shape shape = Shape::Scalar;                         ///< declared shape
  std::vector<std::int64_t> sizes = {};                ///< dimensions of an array or table
  std::int32_t first = 0;                              ///< variable or slot of the first element
  Value value = {};                                    ///< Constant
  bool used = false;                                   ///< Input, Table
  bool declared = false;                               ///< Temporary: `type` and `shape` are given
  bool growing = false;                                ///< Temporary: array without declared size
  std::map<std::int64_t, std::int32_t> elements = {};  ///< slots by index

  /// Number of variables of one element.
  std::int32_t components() const noexcept { return static_cast<std::int32_t>(info(shape).count); }
  /// Number of elements of an array or table, 1 for others.
  std::size_t count() const noexcept {
    std::size_t count = 1;
    for (const std::int64_t size : sizes) count *= static_cast<std::size_t>(size);
    return count;
  }
};

/// The names of one scope: the kernel, or one function call.
using Scope = std::unordered_map<std::string_view, Name*>;

/// An assignment in the text; reported if none of its values is read.
struct AssignmentSite {
  SourceRange where;
  std::string_view name;
  bool read = false;
  std::optional<SourceRange> overwritten;
  bool literal = false;  ///< assigns a number, like `x = 0.0;`
};

/// A value of a temporary: assigned at a site, or selected from two others by a condition.
struct Definition {
  std::int32_t site = -1;
  std::int32_t first = -1, second = -1;
  bool read = false;
};

enum class SlotState : std::uint8_t { Unassigned, Partial, Assigned };

/// A temporary, or an element of one.
struct Slot {
  SlotState state = SlotState::Unassigned;
  Value value;
  bool accumulates = false;  ///< started as zero, by += or -=
  std::int32_t definition = -1;
  SourceRange where;  ///< last assignment
};

class Builder {
 public:
  Builder(const Program& program, Messages& messages);

  /// The graph; invalid if there were errors.
  Graph build(std::string name);

 private:
  // build_expression.cpp
  Value evaluate(ExprId id, Context ctx);
  Value evaluate_kind(const Expr& e, Context ctx);
  Value chain(const Expr& e, Context ctx);
  Value choice(const Expr& e, Context ctx);
  Value read_name(const Expr& e);
  Value read_variable(Fn fn, std::int32_t variable, NodeId at, const SourceRange& where);
  Value read_element(Name& n, const std::vector<ExprId>& indices, const SourceRange& where);
  Value read_input(Name& n, const std::vector<ExprId>& indices, const SourceRange& where);
  Value read_table(Name& n, const Expr& e);
  Value read_temporary(Name& n, const std::vector<ExprId>& indices, const SourceRange& where);
  Shape shape_of(const Name& n);
  bool has_component_index(const Name& n, const std::vector<ExprId>& indices);
  std::optional<std::uint32_t> component_index(const Name& n, ExprId index);
  Value unknown_name(const Expr& e);
  Value test(ExprId id);       ///< a condition, or poison after an error
  Value int_value(ExprId id);  ///< an Int, or poison after an error
  std::optional<std::int64_t> constant_integer(ExprId id, const char* what);
  std::optional<double> constant_value(ExprId id, const char* what);
  bool in_range(const Name& n, std::int64_t at, std::int64_t size, const SourceRange& where);
  /// Linear index of an element; nothing after an error.
  std::optional<std::int64_t> element(const Name& n, const std::vector<ExprId>& indices,
                                      const SourceRange& where);
  Value call(const Expr& e, Context ctx);
  Value call_builtin(const Expr& e, Context ctx);
  Value call_function(const Function& f, const Expr& e, Context ctx);
  Arguments arguments_of(const Expr& e, Context ctx);
  bool can_call(const Function& f, const Expr& e);
  void bind(const Function& f, const Expr& e, const Arguments& values, Context ctx);
  void check_functions();

  // build_gradient.cpp
  Value gradient(const Expr& e, Context ctx);

  // builder.cpp
  void declare(const Statement& s);
  void declare_item(const Statement& s, const DeclaredItem& item);
  std::optional<std::int64_t> default_integer(ExprId id);
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
  void assign_slot(std::int32_t slot, const LValue& lvalue, std::string_view op, ExprId value,
                   const DeclaredType* declared, std::optional<std::uint32_t> component = {});
  void keep_name(const LValue& lvalue, const Value& v);
  Value with_component(const Slot& old, std::uint32_t component, const LValue& lvalue,
                       std::string_view op, const Value& part, Context ctx);
  std::int32_t slot_of(Name& n, const LValue& lvalue);
  std::optional<std::uint32_t> split_component(const Name& n, LValue& lvalue, bool& failed);
  void cannot_assign(const Name& n, const Statement& s);
  void loop(const Statement& s);
  void unroll_loop(const Statement& s, Name& n, std::int64_t first, std::int64_t last,
                   std::int64_t step);
  void branch(const Statement& s);
  void skip(const Statement& s);
  using Slots = std::map<std::int32_t, Slot>;  ///< slots, indexed by number
  Slots undo(std::size_t mark);
  void merge(const Value& condition, const Slots& yes, const Slots& no, const SourceRange& where);

  // build_reductions.cpp
  void contribute(Name& n, const Statement& s);
  void contribute_condition(Name& n, const Statement& s, Reduction reduction);
  void contribute_ranked(Name& n, const Statement& s, Reduction reduction);
  void contribute_mean(const Contribution& weights, const DeclaredItem& mean);
  void unfit_result(const Name& n, const Statement& s, const std::string& what,
                    const std::string& help);
  void contribute_parts(const Name& n, const Statement& s, std::int32_t first, const Value& v);
  void add_contribution(Contribution c);
  void leave_out(BlockId block);
  void keep_reductions();
  void append(Name& n, const Statement& s);
  bool payload(const Statement& s, Contribution& c);
  bool claim(std::int32_t result, Reduction reduction, std::int32_t payload_result,
             const SourceRange& where);

  Message error(Code code, const SourceRange& where, std::string message) {
    return messages_.error(code, where, std::move(message));
  }

  // Names and slots.
  Scope& scope() { return local_ != nullptr ? *local_ : global_; }
  Name* find(std::string_view name);
  Name& add_name(NameKind kind, std::string_view name, const SourceRange& where);
  bool is_free(std::string_view name, const SourceRange& where);
  void name_taken(const Name& n, const SourceRange& where);
  std::int32_t new_slot();
  Slot& slot(std::int32_t at) { return slots_[index(at)]; }
  void set(std::int32_t at, Slot to);
  std::int32_t definition_at(const LValue& lvalue);
  void mark_read(std::int32_t definition);
  bool charge(std::size_t& used, std::size_t most, const SourceRange& where, const char* what);
  bool charge_statement(const SourceRange& where);
  void too_large(const SourceRange& where, const char* what);
  const Expr& expr(ExprId id) const { return program_.expr(id); }

  void warn_unused();
  void warn_unused_values();

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

  std::vector<Slot> slots_;
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
  /// Reductions in branches and loops that constants exclude, but for sums.
  std::vector<const Statement*> left_out_;

  Value path_ = constant_bool(true);         ///< condition of the current statement
  Value not_skipped_ = constant_bool(true);  ///< negated conditions of `skip if`
  int branches_ = 0;                         ///< nesting of conditions
  bool wide_ = false;                        ///< `precision long` is set
  std::map<StatementKind, SourceRange> settings_;
  bool any_statement_ = false;

  std::size_t statements_run_ = 0, operations_ = 0;
  int depth_ = 0;
  bool stopped_ = false;
};

}  // namespace gdr::kc::front
