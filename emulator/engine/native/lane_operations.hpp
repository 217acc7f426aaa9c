// Node operations on rows of lanes in plain loops, for the portable path and the idiom recogniser.
#pragma once

#include <bit>
#include <cmath>

#include "emulator/engine/native/lower.hpp"

namespace gdr::native {

/// Lanes of a row.
constexpr std::size_t row_lanes = Target{}.lanes();

/// Operands and result of one step, all lanes.
template <typename Lane, typename Word>
struct Rows {
  const Word *a, *b, *c;
  Word* to;

  template <typename F>
  void numbers(F f) const {
    for (std::size_t i = 0; i < row_lanes; ++i) {
      to[i] = std::bit_cast<Word>(
          f(std::bit_cast<Lane>(a[i]), std::bit_cast<Lane>(b[i]), std::bit_cast<Lane>(c[i])));
    }
  }
  template <typename F>
  void bits(F f) const {
    for (std::size_t i = 0; i < row_lanes; ++i) to[i] = f(a[i], b[i]);
  }
  template <typename F>
  void test(F f) const {
    for (std::size_t i = 0; i < row_lanes; ++i) {
      to[i] = f(std::bit_cast<Lane>(a[i])) ? static_cast<Word>(~Word{0}) : Word{0};
    }
  }
  template <typename F>
  void test_bits(F f) const {
    for (std::size_t i = 0; i < row_lanes; ++i) {
      to[i] = f(a[i], b[i]) ? static_cast<Word>(~Word{0}) : Word{0};
    }
  }
};

template <typename Lane>
Lane larger(Lane a, Lane b) {
  return std::isnan(a) || !(b > a || std::isnan(b)) ? a : b;
}
template <typename Lane>
Lane smaller(Lane a, Lane b) {
  return std::isnan(a) || !(b < a || std::isnan(b)) ? a : b;
}

/// Arithmetic and comparisons of numbers; false if the operation is another one.
template <typename Lane, typename Word>
bool apply_number(const Node& node, const Rows<Lane, Word>& r) {
  switch (node.op) {
    case NodeOp::Add:
      r.numbers([](Lane a, Lane b, Lane) { return a + b; });
      return true;
    case NodeOp::Sub:
      r.numbers([](Lane a, Lane b, Lane) { return a - b; });
      return true;
    case NodeOp::Mul:
      r.numbers([](Lane a, Lane b, Lane) { return a * b; });
      return true;
    case NodeOp::Fma: {
      // Two roundings: a fused one is a function call on hosts without the instruction.
      const Lane product = (node.detail & fma_negate_product) != 0 ? Lane{-1} : Lane{1};
      const Lane addend = (node.detail & fma_negate_addend) != 0 ? Lane{-1} : Lane{1};
      r.numbers([=](Lane a, Lane b, Lane c) { return product * a * b + addend * c; });
      return true;
    }
    case NodeOp::Max:
      r.numbers([](Lane a, Lane b, Lane) { return larger(a, b); });
      return true;
    case NodeOp::Min:
      r.numbers([](Lane a, Lane b, Lane) { return smaller(a, b); });
      return true;
    case NodeOp::Divide:
      r.numbers([](Lane a, Lane b, Lane) { return a / b; });
      return true;
    case NodeOp::Sqrt:
      r.numbers([](Lane a, Lane, Lane) { return std::sqrt(a); });
      return true;
    case NodeOp::Negative:
      r.test([](Lane a) { return a < 0; });
      return true;
    case NodeOp::IsZero:
      r.test([](Lane a) { return a == 0; });
      return true;
    default:
      return false;
  }
}

/// Bits and masks; false if the operation is another one.
template <typename Lane, typename Word>
bool apply_logic(const Node& node, const Rows<Lane, Word>& r) {
  switch (node.op) {
    case NodeOp::Select:
      for (std::size_t i = 0; i < row_lanes; ++i) r.to[i] = (r.a[i] & r.b[i]) | (~r.a[i] & r.c[i]);
      return true;
    case NodeOp::AsBits:
    case NodeOp::AsNumber:
      r.bits([](Word a, Word) { return a; });
      return true;
    case NodeOp::IntAdd:
      r.bits([](Word a, Word b) { return a + b; });
      return true;
    case NodeOp::IntSub:
      r.bits([](Word a, Word b) { return a - b; });
      return true;
    case NodeOp::And:
    case NodeOp::Both:
      r.bits([](Word a, Word b) { return a & b; });
      return true;
    case NodeOp::Or:
      r.bits([](Word a, Word b) { return a | b; });
      return true;
    case NodeOp::Xor:
      r.bits([](Word a, Word b) { return a ^ b; });
      return true;
    case NodeOp::BitsEqual:
      r.test_bits([](Word a, Word b) { return a == b; });
      return true;
    case NodeOp::BitsAtLeast:
      r.test_bits([](Word a, Word b) { return a >= b; });
      return true;
    case NodeOp::BitsNegative:
      r.test_bits([](Word a, Word) { return (a >> (8 * sizeof(Word) - 1)) != 0; });
      return true;
    default:
      return false;
  }
}

/// Rare operations, by their definition.
template <typename Lane, typename Word>
void apply_any(const Node& node, const Rows<Lane, Word>& r) {
  if constexpr (sizeof(Word) == 8) {
    if (node.op == NodeOp::Round) return r.bits([](Word a, Word) { return round_to_short(a); });
    if (node.op == NodeOp::ShiftRight) {
      return r.bits([](Word a, Word b) {
        const Word count = b >> short_shift;
        return count < 64 ? a >> count : Word{0};
      });
    }
  }
  for (std::size_t i = 0; i < row_lanes; ++i) {
    r.to[i] = static_cast<Word>(evaluate(node, r.a[i], r.b[i], r.c[i]));
  }
}

/// Any operation that is not a leaf.
template <typename Lane, typename Word>
void apply(const Node& node, const Rows<Lane, Word>& rows) {
  if (apply_number(node, rows) || apply_logic(node, rows)) return;
  apply_any(node, rows);
}

}  // namespace gdr::native
