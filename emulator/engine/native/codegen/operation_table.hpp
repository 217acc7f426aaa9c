// Operations of the IR by those of the graph.
#pragma once

#include "emulator/engine/jit/ir.hpp"
#include "emulator/engine/native/translate/graph.hpp"

namespace gdr::native {

/// A comparison and its complement; b is zero if the node has one operand.
struct Comparison {
  NodeOp node;
  jit::Op op;
  std::uint8_t yes, no;  ///< predicates
};

constexpr std::uint8_t code_of(jit::Predicate p) { return static_cast<std::uint8_t>(p); }
constexpr std::uint8_t code_of(jit::IntPredicate p) { return static_cast<std::uint8_t>(p); }

/// The comparison of a node; null if it is none.
const Comparison* comparison_of(NodeOp op) noexcept;
inline bool is_comparison(NodeOp op) noexcept { return comparison_of(op) != nullptr; }
constexpr bool is_comparison_with_zero(NodeOp op) noexcept {
  return op == NodeOp::Negative || op == NodeOp::IsZero;
}

/// The operation of a node that is one instruction on all hosts. Throws Unsupported.
jit::Op simple_operation(NodeOp op);

/// Whether a node is the same value as its operand.
constexpr bool is_free(NodeOp op) noexcept {
  return op == NodeOp::AsBits || op == NodeOp::AsNumber;
}
/// The value behind nodes that cost nothing.
Ref value_behind(const Graph& graph, Ref r) noexcept;

}  // namespace gdr::native
