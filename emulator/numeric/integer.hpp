// The integer unit: two's-complement words of 72 or 36 bits.
//
// An operation has its destination's width. Operands arrive at that width already (`int_operand`):
// a short operand of a long operation becomes the low half, with its sign for signed operations; of
// a long operand of a short operation the low 36 bits count.
#pragma once

#include "emulator/numeric/words.hpp"

namespace gdr {

/// An integer word of either width in the low bits; the bits above the width are zero.
using IntWord = u128;

struct IntResult {
  IntWord value = 0;
  bool carry = false;  ///< carry out of an addition, no borrow of a subtraction, else false
};

constexpr unsigned bit_count(Width width) noexcept {
  return width == Width::Long ? Long::bit_count : Short::bit_count;
}
constexpr u128 bit_mask(Width width) noexcept {
  return width == Width::Long ? Long::mask : u128{Short::mask};
}
constexpr bool sign_of(IntWord x, Width width) noexcept {
  return ((x >> (bit_count(width) - 1)) & 1) != 0;
}
constexpr i128 signed_value(IntWord x, Width width) noexcept {
  const unsigned unused = 128 - bit_count(width);
  return static_cast<i128>(x << unused) >> unused;
}

/// An operand of width `from`, converted for an operation of width `to`.
constexpr IntWord int_operand(IntWord x, Width from, Width to, bool with_sign) noexcept {
  if (from == to || to == Width::Short) return x & bit_mask(to);
  return widen_integer(Short{static_cast<std::uint64_t>(x)}, with_sign).bits;
}

constexpr IntResult iadd(IntWord a, IntWord b, Width w) noexcept {
  const u128 sum = a + b;
  return {sum & bit_mask(w), (sum >> bit_count(w)) != 0};
}
constexpr IntResult isub(IntWord a, IntWord b, Width w) noexcept {
  return {(a - b) & bit_mask(w), a >= b};
}
constexpr IntResult iand(IntWord a, IntWord b, Width) noexcept { return {a & b}; }
constexpr IntResult ior(IntWord a, IntWord b, Width) noexcept { return {a | b}; }
constexpr IntResult ixor(IntWord a, IntWord b, Width) noexcept { return {a ^ b}; }
constexpr IntResult inot(IntWord a, IntWord, Width w) noexcept { return {~a & bit_mask(w)}; }

/// Shifts take an unsigned count; at or over the width they give the limit value.
constexpr IntResult ishl(IntWord a, IntWord count, Width w) noexcept {
  if (count >= bit_count(w)) return {0};
  return {(a << static_cast<unsigned>(count)) & bit_mask(w)};
}
constexpr IntResult ishr(IntWord a, IntWord count, Width w) noexcept {
  if (count >= bit_count(w)) return {0};
  return {a >> static_cast<unsigned>(count)};
}
constexpr IntResult iasr(IntWord a, IntWord count, Width w) noexcept {
  const unsigned limit = bit_count(w) - 1;
  const unsigned shift = count > limit ? limit : static_cast<unsigned>(count);
  return {static_cast<u128>(signed_value(a, w) >> shift) & bit_mask(w)};
}

constexpr IntResult imax(IntWord a, IntWord b, Width w) noexcept {
  return {signed_value(a, w) < signed_value(b, w) ? b : a};
}
constexpr IntResult imin(IntWord a, IntWord b, Width w) noexcept {
  return {signed_value(b, w) < signed_value(a, w) ? b : a};
}
constexpr IntResult umax(IntWord a, IntWord b, Width) noexcept { return {a < b ? b : a}; }
constexpr IntResult umin(IntWord a, IntWord b, Width) noexcept { return {b < a ? b : a}; }
constexpr IntResult ipass(IntWord a, IntWord, Width) noexcept { return {a}; }

}  // namespace gdr
