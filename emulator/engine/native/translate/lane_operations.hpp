// Node operations on rows of lanes in plain loops, for the portable path and the idiom recogniser.
#pragma once

#include <bit>
#include <cmath>
#include <type_traits>

#include "emulator/engine/native/translate/target.hpp"

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
  /// A mask from numbers.
  template <typename F>
  void test(F f) const {
    bits([f](Word x, Word) { return mask_of(f(std::bit_cast<Lane>(x))); });
  }
  /// A mask from bits.
  template <typename F>
  void test_bits(F f) const {
    bits([f](Word x, Word y) { return mask_of(f(x, y)); });
  }
  static Word mask_of(bool value) { return value ? static_cast<Word>(~Word{0}) : Word{0}; }
};

template <typename Word>
using Integer = std::make_signed_t<Word>;

template <typename Lane>
Lane larger(Lane a, Lane b) {
  return std::isnan(a) || !(b > a || std::isnan(b)) ? a : b;
}
template <typename Lane>
Lane smaller(Lane a, Lane b) {
  return std::isnan(a) || !(b < a || std::isnan(b)) ? a : b;
}

/// Any operation that is not a leaf.
template <typename Lane, typename Word>
void apply(const Node& node, const Rows<Lane, Word>& r) {
  switch (node.op) {
    case NodeOp::Add:
      return r.numbers([](Lane a, Lane b, Lane) { return a + b; });
    case NodeOp::Sub:
      return r.numbers([](Lane a, Lane b, Lane) { return a - b; });
    case NodeOp::Mul:
      return r.numbers([](Lane a, Lane b, Lane) { return a * b; });
    case NodeOp::Fma: {
      // Two roundings: a fused one is a function call on hosts without the instruction. Doubles
      // hold a product of floats.
      if (sizeof(Lane) == sizeof(float) && (node.detail & fma_once) != 0)
        return r.numbers([=](Lane a, Lane b, Lane c) {
          const double signed_a = (node.detail & fma_negate_product) != 0 ? -a : a;
          const double signed_c = (node.detail & fma_negate_addend) != 0 ? -c : c;
          return static_cast<Lane>(signed_a * static_cast<double>(b) + signed_c);
        });
      const Lane product = (node.detail & fma_negate_product) != 0 ? Lane{-1} : Lane{1};
      const Lane addend = (node.detail & fma_negate_addend) != 0 ? Lane{-1} : Lane{1};
      return r.numbers([=](Lane a, Lane b, Lane c) { return product * a * b + addend * c; });
    }
    case NodeOp::Max:
      return r.numbers([](Lane a, Lane b, Lane) { return larger(a, b); });
    case NodeOp::Min:
      return r.numbers([](Lane a, Lane b, Lane) { return smaller(a, b); });
    case NodeOp::Divide:
      return r.numbers([](Lane a, Lane b, Lane) { return a / b; });
    case NodeOp::Sqrt:
      return r.numbers([](Lane a, Lane, Lane) { return std::sqrt(a); });
    case NodeOp::Truncate:
      return r.numbers([towards = static_cast<Towards>(node.detail)](Lane a, Lane, Lane) {
        return rounded_towards(towards, a);
      });
    case NodeOp::FromInt:
      return r.bits([](Word a, Word) {
        return std::bit_cast<Word>(static_cast<Lane>(static_cast<Integer<Word>>(a)));
      });
    case NodeOp::ToInt:
      return r.bits([](Word a, Word) {
        return static_cast<Word>(integer_of<Integer<Word>>(std::bit_cast<Lane>(a)));
      });
    case NodeOp::Negative:
      return r.test([](Lane a) { return a < 0; });
    case NodeOp::IsZero:
      return r.test([](Lane a) { return a == 0; });
    case NodeOp::Select:
      for (std::size_t i = 0; i < row_lanes; ++i) r.to[i] = (r.a[i] & r.b[i]) | (~r.a[i] & r.c[i]);
      return;
    case NodeOp::AsBits:
    case NodeOp::AsNumber:
      return r.bits([](Word a, Word) { return a; });
    case NodeOp::IntAdd:
      return r.bits([](Word a, Word b) { return a + b; });
    case NodeOp::IntSub:
      return r.bits([](Word a, Word b) { return a - b; });
    case NodeOp::And:
    case NodeOp::Both:
      return r.bits([](Word a, Word b) { return a & b; });
    case NodeOp::Or:
      return r.bits([](Word a, Word b) { return a | b; });
    case NodeOp::Xor:
      return r.bits([](Word a, Word b) { return a ^ b; });
    case NodeOp::SignedMax:
      return r.bits([](Word a, Word b) {
        return static_cast<Integer<Word>>(a) < static_cast<Integer<Word>>(b) ? b : a;
      });
    case NodeOp::SignedMin:
      return r.bits([](Word a, Word b) {
        return static_cast<Integer<Word>>(b) < static_cast<Integer<Word>>(a) ? b : a;
      });
    case NodeOp::BitsEqual:
      return r.test_bits([](Word a, Word b) { return a == b; });
    case NodeOp::BitsAtLeast:
      return r.test_bits([](Word a, Word b) { return a >= b; });
    case NodeOp::BitsNegative:
      return r.test_bits([](Word a, Word) { return (a >> (8 * sizeof(Word) - 1)) != 0; });
    default:
      break;
  }
  if constexpr (sizeof(Word) == 4) {  // integers are not shifted
    if (node.op == NodeOp::ShiftLeft)
      return r.bits([](Word a, Word b) { return b < 32 ? a << b : Word{0}; });
  }
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

}  // namespace gdr::native
