// Value of an expression during graph construction: a node or a constant.
#pragma once

#include <cstdint>

#include "kernels/compiler/graph.hpp"

namespace gdr::kc::front {

enum class Kind : std::uint8_t {
  Poison,  ///< invalid, already reported
  Number,
  Int,
  Bool,
};

struct Value {
  Kind kind = Kind::Poison;
  bool constant = false;
  bool wide = false;       ///< operations that use it give longs
  bool fixed_int = false;  ///< constant declared as int: not converted to a number
  bool truth = false;      ///< constant Bool
  NodeId node = no_node;   ///< node of a variable value
  double number = 0;       ///< constant Number, or constant Int as a number
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

/// Requirements of the context of an expression.
struct Context {
  bool wide = false;      ///< operations give longs
  bool want_int = false;  ///< constants are ints
};

}  // namespace gdr::kc::front
