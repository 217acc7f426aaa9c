// What an expression is while the graph is built: a node, or a number that is known already.
#pragma once

#include <cstdint>

#include "kernels/compiler/graph.hpp"

namespace gdr::kc::front {

enum class Kind : std::uint8_t {
  Poison,  ///< something is wrong with it, and was reported
  Number,
  Int,
  Bool,
};

struct Value {
  Kind kind = Kind::Poison;
  bool constant = false;
  bool wide = false;       ///< makes the operations that use it long
  bool fixed_int = false;  ///< a constant that was declared an int: no number
  bool truth = false;      ///< constant Bool
  NodeId node = no_node;   ///< where not constant
  double number = 0;       ///< constant Number, and constant Int as a number
  std::int64_t integer = 0;

  bool poison() const noexcept { return kind == Kind::Poison; }
  bool constant_int() const noexcept { return constant && kind == Kind::Int; }
};

inline Value constant_number(double x, bool wide = false) noexcept {
  Value v;
  v.kind = Kind::Number;
  v.constant = true;
  v.wide = wide;
  v.number = x;
  return v;
}
inline Value constant_int(std::int64_t x) noexcept {
  Value v;
  v.kind = Kind::Int;
  v.constant = true;
  v.integer = x;
  v.number = static_cast<double>(x);
  return v;
}
inline Value constant_bool(bool x) noexcept {
  Value v;
  v.kind = Kind::Bool;
  v.constant = true;
  v.truth = x;
  return v;
}
inline Value node_value(Kind kind, NodeId node, bool wide = false) noexcept {
  Value v;
  v.kind = kind;
  v.node = node;
  v.wide = wide;
  return v;
}

/// What an expression is wanted for.
struct Context {
  bool wide = false;      ///< its operations give longs
  bool want_int = false;  ///< constants in it are ints, not numbers
};

}  // namespace gdr::kc::front
