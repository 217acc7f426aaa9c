// Operations on values: type rules and constant folding.
//
// An operation that rounds gives a long if the context requires one or an operand is wide, else a
// short. Long inputs are not wide: their difference is computed exactly and rounded once, to a
// short. Operations that only select or change a sign (abs, min, max, ? :, -) never round and keep
// the type of their operands.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "kernels/compiler/front/messages.hpp"
#include "kernels/compiler/front/nodes.hpp"
#include "kernels/compiler/front/token.hpp"
#include "kernels/compiler/front/value.hpp"

namespace gdr::kc::front {

class Arithmetic {
 public:
  Arithmetic(NodeTable& nodes, Messages& messages) : nodes_(nodes), messages_(messages) {}

  /// + - * / of numbers and ints. Here and below a poisoned operand gives poison.
  Value combine(TokenKind op, const Value& a, const Value& b, Context ctx,
                const SourceRange& where);
  Value negate(const Value& a, const SourceRange& where);
  /// Sqrt, Rsqrt, Reciprocal, Exp.
  Value round1(Fn fn, const Value& a, Context ctx, const SourceRange& where);
  Value absolute(const Value& a, const SourceRange& where);
  /// Min, Max.
  Value extreme(Fn fn, const Value& a, const Value& b, Context ctx, const SourceRange& where);
  /// base^exponent for a constant exponent that is a multiple of 1/2.
  Value power(const Value& base, const Value& exponent, Context ctx, const SourceRange& where);

  /// < <= > >= == !=. Comparisons with NaN are false, except !=.
  Value compare(TokenKind op, const Value& a, const Value& b, const SourceRange& where);
  Value both(const Value& a, const Value& b, const SourceRange& where);
  Value either(const Value& a, const Value& b, const SourceRange& where);
  Value invert(const Value& a, const SourceRange& where);
  /// condition ? yes : no.
  Value choose(const Value& condition, const Value& yes, const Value& no, Context ctx,
               const SourceRange& where);

  /// The value converted to a declared type; Short rounds, Int and Bool require the same kind.
  Value convert(Type type, const Value& a, const SourceRange& where);
  /// Reports an error and returns poison if the value is not a condition.
  Value condition(const Value& a, const SourceRange& where);

  /// A node for a number, of `type` if one has to be created; `a` may be an Int.
  NodeId number_node(const Value& a, Type type, const SourceRange& where);
  NodeId int_node(const Value& a, const SourceRange& where);
  NodeId bool_node(const Value& a) const { return a.node; }

 private:
  bool check_int(const Value& constant, const SourceRange& where);
  bool arithmetic_operand(const Value& a, const SourceRange& where);
  Value combine_ints(TokenKind op, const Value& a, const Value& b, Context ctx,
                     const SourceRange& where);
  Value times_constant(const Value& a, std::int64_t factor, const SourceRange& where);
  Value exact(Fn fn, const Value& condition, const Value& a, const Value& b, bool wide,
              const SourceRange& where);
  Value known(double x, bool wide, const SourceRange& where);
  Value less(const Value& a, const Value& b, const SourceRange& where);
  Value equal(const Value& a, const Value& b, const SourceRange& where);
  Value compare_nodes(Fn fn, const Value& a, const Value& b, const SourceRange& where);
  Value whole_power(const Value& base, int n, Context ctx, const SourceRange& where);
  bool is_long(const Value& a) const;

  NodeTable& nodes_;
  Messages& messages_;
  std::map<int, std::vector<std::pair<int, int>>> chains_;  ///< cache by exponent
};

/// A shortest addition chain for n >= 1: each step adds two previous numbers (index 0 is 1).
std::vector<std::pair<int, int>> addition_chain(int n);
/// Largest exponent of power().
constexpr int max_exponent = 64;

}  // namespace gdr::kc::front
