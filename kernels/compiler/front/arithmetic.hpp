// Nodes and values of expressions during graph construction, and operations on values: type rules
// and constant folding.
//
// An operation that rounds gives a long if the context requires one or an operand is wide, else a
// short. Long inputs are not wide: their difference is computed exactly and rounded once, to a
// short. Operations that only select or change a sign (abs, min, max, ? :, -) never round and keep
// the type of their operands.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/compiler/front/messages.hpp"
#include "kernels/compiler/front/shape.hpp"
#include "kernels/compiler/ir/graph.hpp"

namespace gdr::kc::front {

/// Hash-consed nodes of a graph under construction.
class NodeTable {
 public:
  /// The node with this function, type, operands and payload; its source range is that of the first
  /// request. Operands of commutative operations may be swapped.
  NodeId node(Node n);
  NodeId make(Fn fn, Type type, const SourceRange& where, NodeId a, NodeId b = no_node,
              NodeId c = no_node) {
    return node({.fn = fn, .type = type, .a = a, .b = b, .c = c, .where = where});
  }

  const Node& operator[](NodeId id) const { return nodes_[index(id)]; }
  std::size_t size() const noexcept { return nodes_.size(); }
  std::span<const Node> all() const noexcept { return nodes_; }
  std::vector<Node> release() { return std::move(nodes_); }

 private:
  /// All members of a node but its source range; the number as bits, since zeros of different signs
  /// differ.
  using Key =
      std::tuple<Fn, Type, NodeId, NodeId, NodeId, std::int32_t, std::uint64_t, std::int64_t>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };

  std::vector<Node> nodes_;
  std::unordered_map<Key, NodeId, KeyHash> ids_;
};

/// Remove nodes that no contribution needs.
void drop_unused_nodes(Graph& graph);

enum class Kind : std::uint8_t {
  Poison,  ///< invalid, already reported
  Number,
  Int,
  Bool,
  Parts,  ///< numbers: `parts`, of a vector, tensor or complex number
};

/// The value of an expression: a node, a constant, or the parts of a vector or tensor.
struct Value {
  Kind kind = Kind::Poison;
  bool constant = false;
  bool wide = false;       ///< operations that use it give longs
  bool fixed_int = false;  ///< constant declared as int: not converted to a number
  bool truth = false;      ///< constant Bool
  NodeId node = no_node;   ///< node of a variable value
  double number = 0;       ///< constant Number, or constant Int as a number
  std::int64_t integer = 0;
  Shape form = Shape::Scalar;     ///< shape of Parts
  std::vector<Value> parts = {};  ///< Numbers, or constant Ints

  bool poison() const noexcept { return kind == Kind::Poison; }
  bool has_parts() const noexcept { return kind == Kind::Parts; }
  Shape shape() const noexcept { return has_parts() ? form : Shape::Scalar; }
  bool constant_int() const noexcept { return constant && kind == Kind::Int; }
};

inline Value constant_number(double x, bool wide = false) noexcept {
  return {.kind = Kind::Number, .constant = true, .wide = wide, .number = x};
}
inline Value constant_int(std::int64_t x) noexcept {
  return {.kind = Kind::Int, .constant = true, .number = static_cast<double>(x), .integer = x};
}
inline Value constant_bool(bool x) noexcept {
  return {.kind = Kind::Bool, .constant = true, .truth = x};
}
inline Value node_value(Kind kind, NodeId node, bool wide = false) noexcept {
  return {.kind = kind, .wide = wide, .node = node};
}

/// A vector or tensor of these numbers; poison if one of them is poison.
Value value_of_parts(Shape shape, std::vector<Value> parts);
/// The same for all components.
inline Value value_of_parts(Shape shape, const Value& each) {
  return value_of_parts(shape, std::vector<Value>(info(shape).count, each));
}
/// Zero of this shape; for numbers a constant int.
Value zero_of(Shape shape);
/// The unit tensor.
Value unit_tensor();
/// Whether the value is a constant equal to x.
bool is_constant(const Value& a, double x) noexcept;
/// Make operations that use the value give longs.
void widen(Value& value);

/// Requirements of the context of an expression.
struct Context {
  bool wide = false;      ///< operations give longs
  bool want_int = false;  ///< constants are ints
};

class Arithmetic {
 public:
  Arithmetic(NodeTable& nodes, Messages& messages) : nodes_(nodes), messages_(messages) {}

  /// Add, Sub, Mul, Div of numbers and ints. Here and below a poisoned operand gives poison.
  Value combine(Fn fn, const Value& a, const Value& b, Context ctx, const SourceRange& where);
  Value negate(const Value& a, const SourceRange& where);
  /// A function of one number, rounded to its context.
  Value round1(Fn fn, const Value& a, Context ctx, const SourceRange& where);
  /// A function of two numbers.
  Value round2(Fn fn, const Value& a, const Value& b, Context ctx, const SourceRange& where);
  /// The Boys function of a constant order.
  Value boys(const Value& order, const Value& a, Context ctx, const SourceRange& where);
  /// A number as an int, rounded towards zero; an int is unchanged.
  Value integer(const Value& a, const SourceRange& where);
  /// The remainder of ints, with the sign of a; b is a constant.
  Value remainder(const Value& a, const Value& b, const SourceRange& where);
  Value absolute(const Value& a, const SourceRange& where);
  /// Min, Max.
  Value extreme(Fn fn, const Value& a, const Value& b, Context ctx, const SourceRange& where);
  /// base^exponent: by products and roots for a constant multiple of 1/2, else Pow.
  Value power(const Value& base, const Value& exponent, Context ctx, const SourceRange& where);

  /// < <= > >= == !=. Comparisons with NaN are false, except !=.
  Value compare(std::string_view op, const Value& a, const Value& b, const SourceRange& where);
  /// a < b and a == b of numbers, as compare() without its checks.
  Value less(const Value& a, const Value& b, const SourceRange& where) {
    return relation(Fn::Less, a, b, where);
  }
  Value equal(const Value& a, const Value& b, const SourceRange& where) {
    return relation(Fn::Equal, a, b, where);
  }
  Value both(const Value& a, const Value& b, const SourceRange& where) {
    return logic(Fn::And, a, b, where);
  }
  Value either(const Value& a, const Value& b, const SourceRange& where) {
    return logic(Fn::Or, a, b, where);
  }
  Value invert(const Value& a, const SourceRange& where);
  /// condition ? yes : no.
  Value choose(const Value& condition, const Value& yes, const Value& no, Context ctx,
               const SourceRange& where);

  /// The value converted to a declared type; Short rounds, Int and Bool require the same kind.
  /// `written`: the text has the function short() or long() here.
  Value convert(Type type, const Value& a, const SourceRange& where, bool written = false);
  /// The value in this shape: a number as a complex one, other values as they are.
  Value promoted(Shape shape, const Value& a, Context ctx, const SourceRange& where);
  /// Reports an error and returns false if the value has another shape. Poison has every shape.
  bool has_shape(Shape shape, const Value& a, const SourceRange& where);
  /// A component of a vector or tensor by its name.
  Value component(const Value& a, std::string_view name, const SourceRange& where);
  /// Reports an error and returns poison if the value is not a condition.
  Value condition(const Value& a, const SourceRange& where);

  /// A node for a number, of `type` if one has to be created; `a` may be an Int.
  NodeId number_node(const Value& a, Type type, const SourceRange& where);
  NodeId int_node(const Value& a, const SourceRange& where);

 private:
  Message error(Code code, const SourceRange& where, std::string message) {
    return messages_.error(code, where, std::move(message));
  }
  bool check_int(const Value& constant, const SourceRange& where);
  bool check_images(const Value& a, const Value& limit, const SourceRange& where);
  bool arithmetic_operand(const Value& a, const SourceRange& where);
  Value combine_ints(Fn fn, const Value& a, const Value& b, Context ctx, const SourceRange& where);
  Value quotient(const Value& a, const Value& b, const SourceRange& where);
  Value times_constant(const Value& a, std::int64_t factor, const SourceRange& where);
  Value exact(Fn fn, const Value& condition, const Value& a, const Value& b, bool wide,
              const SourceRange& where);
  Value known(double x, bool wide, const SourceRange& where);
  Value relation(Fn fn, const Value& a, const Value& b, const SourceRange& where);
  Value logic(Fn fn, const Value& a, const Value& b, const SourceRange& where);
  Value whole_power(const Value& base, int n, Context ctx, const SourceRange& where);
  Value combine_parts(Fn fn, const Value& a, const Value& b, Context ctx, const SourceRange& where);
  bool is_long(const Value& a) const;

  NodeTable& nodes_;
  Messages& messages_;
  std::map<int, std::vector<std::pair<int, int>>> chains_;  ///< cache by exponent
};

/// Operations on vectors and tensors. Components that are constant zeros and ones cost nothing:
/// they are neither added nor multiplied.
class Components {
 public:
  Components(Arithmetic& with, Context ctx, const SourceRange& where)
      : with_(with), ctx_(ctx), where_(where) {}

  Value sum(const Value& a, const Value& b);
  Value difference(const Value& a, const Value& b);
  Value product(const Value& a, const Value& b);
  /// a0*b0 + a1*b1 + ..., from the left.
  Value dot(const std::vector<Value>& a, const std::vector<Value>& b);
  /// tensor * vector.
  Value transform(const Value& tensor, const Value& vector);

 private:
  Arithmetic& with_;
  Context ctx_;
  const SourceRange& where_;
};

using Arguments = std::vector<Value>;

/// A call of a function of numbers (ir/function.hpp).
struct Call {
  Arithmetic& with;
  const Arguments& a;
  Context ctx;
  const SourceRange& where;
};

/// The function that differentiates: `grad(u, x)`.
constexpr std::string_view gradient_name = "grad";

/// A function of vectors, tensors and complex numbers by its name.
bool is_vector_function(std::string_view name) noexcept;
/// Whether it has a form for arguments of these shapes.
bool has_vector_form(std::string_view name, const Arguments& arguments) noexcept;
/// Names of these functions.
std::vector<std::string_view> vector_function_names();
/// The value of such a function; reports an error for arguments of other shapes.
Value call_vector_function(std::string_view name, Arithmetic& with, Messages& messages,
                           const Arguments& arguments, Context ctx, const SourceRange& where);

/// A shortest addition chain for n >= 1: each step adds two previous numbers (index 0 is 1).
std::vector<std::pair<int, int>> addition_chain(int n);

}  // namespace gdr::kc::front
