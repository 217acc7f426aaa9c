// Operations on values: the rule of precision, ints and numbers, constants.
//
// An operation that rounds gives a long if the context asks for one or an operand is wide, else a
// short. Long inputs are not wide: their difference is exact and rounds once, to a short. What only
// chooses or changes a sign (abs, min, max, ? :, -) never rounds, and keeps the type of its
// operands.
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

  /// + - * / of numbers and ints. A poisoned operand gives poison, here and below.
  Value combine(TokenKind op, const Value& a, const Value& b, Context ctx,
                const SourceRange& where);
  Value negate(const Value& a, const SourceRange& where);
  /// Sqrt, Rsqrt, Reciprocal, Exp.
  Value round1(Fn fn, const Value& a, Context ctx, const SourceRange& where);
  Value absolute(const Value& a, const SourceRange& where);
  /// Min, Max.
  Value extreme(Fn fn, const Value& a, const Value& b, Context ctx, const SourceRange& where);
  /// base^exponent for a constant exponent that is an integer or half of one.
  Value power(const Value& base, const Value& exponent, Context ctx, const SourceRange& where);

  /// < <= > >= == !=. A comparison with NaN is false, but != is true.
  Value compare(TokenKind op, const Value& a, const Value& b, const SourceRange& where);
  Value both(const Value& a, const Value& b, const SourceRange& where);
  Value either(const Value& a, const Value& b, const SourceRange& where);
  Value invert(const Value& a, const SourceRange& where);
  /// condition ? yes : no.
  Value choose(const Value& condition, const Value& yes, const Value& no, Context ctx,
               const SourceRange& where);

  /// The value as one of a declared type; Short rounds, Int and Bool must be what they are.
  Value convert(Type type, const Value& a, const SourceRange& where);
  /// Poison, after an error, where it is no condition.
  Value condition(const Value& a, const SourceRange& where);

  /// A node for a number, in `type` where something has to be made; `a` may be an Int.
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
  std::map<int, std::vector<std::pair<int, int>>> chains_;  ///< found before
};

/// A shortest addition chain for n >= 1: each step adds two numbers made before (index 0 is 1).
std::vector<std::pair<int, int>> addition_chain(int n);
/// The largest n that power() takes, and half of it for halves.
constexpr int largest_exponent = 64;

}  // namespace gdr::kc::front
