// Lowers the nodes of a Graph to the operations of a MachineLoop.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/compiler/lower/lower.hpp"
#include "kernels/compiler/lower/shared_factors.hpp"

namespace gdr::kc {

/// A number in the machine: the stored value is `scale` times the true one. Constant factors and
/// signs accumulate in the scale and cost nothing until an addition.
struct Term {
  Ref ref = {};
  double scale = 1;
  bool constant = false;
  double number = 0;  ///< constant: true value (materialized on use)
  static Term of(double number) { return {.constant = true, .number = number}; }
  Term operator-() const { return {ref, constant ? scale : -scale, constant, -number}; }
};

/// A condition: it holds where the mask's bit equals `value`.
struct Condition {
  MaskId mask = none;
  bool value = true;
};

class Builder {
 public:
  /// `factors`: numbers that are stored with another scale than their own one.
  Builder(const Graph& graph, unsigned elements, bool relaxed, bool plain_roots,
          NodeFactors factors = {});
  MachineLoop build();

  /// Of the last build: terms of sums that were multiplied by a constant.
  const NodeFactors& corrections() const noexcept { return corrections_; }
  /// Number of readers of each node.
  const std::vector<std::uint32_t>& uses() const noexcept { return node_uses_; }

  // -- what functions are made of (kernels/compiler/functions) -------------------------------

  const Graph& graph() const noexcept { return graph_; }
  /// Whether all numbers are longs, that is doubles of a host.
  bool in_longs() const noexcept { return graph_.in_longs; }
  /// The source range of the operations that are emitted.
  const SourceRange& place() const noexcept { return where_; }
  Width width_of(const Ref& ref) const;
  bool invariant(const Ref& ref) const;

  // builder.cpp: operations, constants and factors
  Ref emit(Op op, Width width, Ref a, Ref b = {});
  Ref append_op(MachineOp op);
  Ref immediate(double number);
  Ref bits(std::uint64_t short_bits);
  Ref short_of(const Ref& ref);
  Term multiply(Term a, Term b, Width width);
  Term with_scale(const Term& term, double scale, Width width);
  Ref plain(const Term& term, Width width);
  /// Values that were computed under a mask must not be reused.
  void forget_values() { value_numbers_.clear(); }
  /// Values that the functions of a family, such as Boys functions, have in common for one
  /// argument.
  std::vector<Ref>& family(NodeId argument, Type type) { return families_[{argument, type}]; }

  // math.cpp: steps
  struct Split {
    Ref head;  ///< a short on every host
    Ref tail;  ///< the rest, or none
  };
  Split split(const Ref& x);
  Ref operand(const Term& x, Width width);
  Ref product(Ref a, Ref b, Width width);
  Ref times_constant(const Ref& x, double constant);
  Ref horner(const Ref& x, double largest, std::span<const double> c, Width accuracy, Width width,
             std::optional<double> limit = {});
  Ref absolute(const Ref& x);
  Ref rounded_short(const Ref& x);
  Ref leading_bits(const Ref& x, unsigned dropped);
  Ref head_of(const Ref& x);
  Ref short_inverse(const Ref& x);
  Ref inverse(const Ref& x, Width accuracy);
  Ref quotient(const Ref& a, const Ref& b);
  Ref ratio(const Ref& a, const Ref& b, Width accuracy, Width width);
  Ref ratio(const Ref& a, const Ref& b, Width width) { return ratio(a, b, width, width); }
  Ref copy_of(const Ref& x, Width width);
  Ref sign_of(const Ref& x);

  // math.cpp, conditions.cpp: selections
  Ref where(Condition condition, const Ref& yes, const Ref& no, Width width);
  Condition flag_of(Op op, const Ref& a, const Ref& b, MaskFlag flag);
  MaskId new_mask();
  OpId set_mask(MaskId mask, Op op, Ref a, Ref b, MaskFlag flag, MaskId predicate, bool value);
  Ref select_constant(Condition condition, const Ref& yes, bool own_yes, u128 no_bits, Width width);

  // functions/: functions that others are made of
  Term rsqrt(Term x, Width width);
  Term reciprocal(Term x, Width width);
  struct Octave {
    Ref f;
    Ref power;
  };
  Octave octave_of(const Ref& x, const Ref& rest);
  std::span<const double> long_exponential() const;
  Ref exponential_of(const Ref& x, const Ref& rest, Width accuracy);
  Ref precise_exponential_of(const Ref& x, const Ref& rest, Width accuracy);
  struct Parts {
    Ref shifted;
    Ref n;
    Condition valid;
  };
  Parts parts_of(const Ref& x);
  Ref special_logarithm(const Ref& x, Width width);
  Ref logarithm(const Ref& x, Width width);
  Ref nearest_integer(const Ref& x, Width width);
  Ref floor_of(const Ref& x, Width width);
  Ref truncated(const Ref& x, Width width);

 private:
  // builder.cpp: operands and arithmetic
  const Term& term(NodeId node);
  Term make_term(NodeId id);
  double factor_of(NodeId id) const;
  bool inverse_root(const Node& node, NodeId operand) const;
  Term root_operand(NodeId root);
  Ref input(std::int32_t variable);
  ValueId new_value(MachineValue value);
  ValueId new_accumulator(std::int32_t variable, Width width, bool integer);
  void predicate(OpId op, Condition condition);
  Term multiplied(Term a, Term b, double factor, Width width);
  void align(Term& a, NodeId of_a, Term& b, NodeId of_b, Width width);
  Term add(Term a, Term b, Width width, NodeId of_a = no_node, NodeId of_b = no_node);
  /// A reciprocal or root: with scale 1 if these are wanted plain.
  Term root_term(const Term& term, Width width) {
    return plain_roots_ ? with_scale(term, 1, width) : term;
  }
  MachineOp* producer(const Ref& ref);

  // integers.cpp: integers and tables
  Ref integer(NodeId node);
  Ref make_integer(const Node& node);
  Ref number_of(const Ref& integer, Width width);
  Ref table_lookup(const Node& node);
  Ref with_sign(const Ref& n, const Ref& sign);
  Ref nearest_int(const Ref& x);
  Ref truncated_int(const Ref& x);
  Ref int_quotient(const Ref& n, std::int64_t divisor);

  // conditions.cpp: masks and selections
  Condition condition(NodeId node);
  Condition compare(const Node& node, MaskId into, MaskId predicate, bool predicate_value);
  Condition combine_conditions(const Node& node, bool conjunction);
  bool is_comparison(NodeId node) const;
  bool is_shared(NodeId node) const;
  Ref select(Condition condition, const Ref& yes, bool own_yes, const Ref& no, bool own_no,
             Width width);
  Ref fresh_copy(const Ref& ref, bool own, Width width);
  bool owns_its_value(NodeId id) const;
  Term choose(const Node& node);

  // contributions.cpp
  void contribute(std::size_t result);
  void contribute_with_index(std::size_t variable, const std::vector<const Contribution*>& mine);
  Ref upper_key(const Term& key);
  bool orders_as_int(const Contribution& c) const;
  void contribute_any_key(std::size_t variable, const std::vector<const Contribution*>& mine);
  OpId accumulate(MachineOp op, NodeId condition_node);

  // ranked_results.cpp
  void contribute_ranked(std::size_t variable, const std::vector<const Contribution*>& mine);
  OpId replace(ValueId accumulator, const Ref& from, MaskId where);

  // log_sum.cpp
  struct LogSum {
    ValueId sum = none, most = none;  ///< sum relative to the largest term, and that term
    std::vector<ValueId> means;
  };
  /// The last writes of the accumulators of a LogSum.
  struct LogSumWrites {
    OpId most = none;
    std::vector<OpId> sums;  ///< operations of the sum, then of the means
  };
  void contribute_log_sum(std::size_t variable);
  void add_exponential(const LogSum& log_sum, std::size_t contribution, LogSumWrites& writes);
  MaskId excluded(const Ref& value, NodeId condition_node);
  void finish_results();

  void make_list(std::size_t variable, const std::vector<const Contribution*>& mine);
  OpId append(std::int32_t list, const Contribution& c, OpId before);

  void lower_deep_chains();
  void find_compatible_predicates();
  void collect_uses();

  const Graph& graph_;
  bool relaxed_, plain_roots_;
  NodeFactors factors_, corrections_;
  MachineLoop loop_;
  std::vector<std::uint32_t> node_uses_;
  std::vector<bool> nonnegative_;  ///< whether a node is (nonnegative_nodes), indexed by node
  std::map<ValueId, unsigned> nodes_of_value_;  ///< number of nodes that share a value
  std::vector<std::optional<Term>> terms_;      ///< terms, indexed by node; computed on demand
  std::vector<std::optional<Ref>> integers_;    ///< integers, indexed by node; computed on demand
  std::vector<ValueId> inputs_;
  std::vector<LogSum> log_sums_;
  std::map<NodeId, Condition> conditions_;
  std::map<std::pair<NodeId, Type>, std::vector<Ref>>
      families_;  ///< results by argument (family())
  struct Key {
    Op op;
    Width width;
    std::array<std::int64_t, 4> in;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, ValueId> value_numbers_;
  SourceRange where_;
};

}  // namespace gdr::kc
