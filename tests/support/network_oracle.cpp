#include "support/network_oracle.hpp"

#include <bit>

#include "support/float_oracle.hpp"

namespace oracle {
namespace {

using gdr::Long;
using gdr::Reduce;

Long evaluate(Op op, Long a, Long b) {
  static Oracle oracle;
  return {oracle.evaluate(op, {long_format, a.bits}, {long_format, b.bits}, long_format).bits};
}

Long cut(Bits bits) { return {bits & Long::mask}; }

/// The order of signed integers of 72 bits is that of unsigned ones with the sign bit inverted.
bool less(Long a, Long b) {
  const Bits sign = Bits{1} << 71;
  return (a.bits ^ sign) < (b.bits ^ sign);
}

Long node(Reduce op, Long left, Long right) {
  switch (op) {
    case Reduce::Index:  // not an operation of a node
    case Reduce::Pass:
      return left;
    case Reduce::Fadd:
      return evaluate(Op::Fadd, left, right);
    case Reduce::Fmax:
      return evaluate(Op::Fmax, left, right);
    case Reduce::Fmin:
      return evaluate(Op::Fmin, left, right);
    case Reduce::Iadd:
      return cut(left.bits + right.bits);
    case Reduce::Imax:
      return less(left, right) ? right : left;
    case Reduce::Imin:
      return less(right, left) ? right : left;
    case Reduce::Iand:
      return cut(left.bits & right.bits);
    case Reduce::Ior:
      return cut(left.bits | right.bits);
    case Reduce::Ixor:
      return cut(left.bits ^ right.bits);
  }
  return left;
}

}  // namespace

Long long_of(double value) { return {Bits{std::bit_cast<std::uint64_t>(value)} << 8}; }

std::uint64_t double_bits(Long word) {
  static Oracle oracle;
  const Word a{long_format, word.bits};
  return static_cast<std::uint64_t>(oracle.evaluate(Op::Cvt, a, a, double_format).bits);
}

Long add(Long a, Long b) { return evaluate(Op::Fadd, a, b); }
Long multiply(Long a, Long b) { return evaluate(Op::Fmul, a, b); }
Long multiply_twice(Long a, Long b) { return evaluate(Op::Dmul, a, b); }

// The left subtree of a node is the largest complete one, which is the tree of joining pairs level
// by level, with an odd word passed on unchanged.
Long reduce(Reduce op, std::span<const Long> leaves) {
  if (leaves.size() == 1) return leaves[0];
  const std::size_t left = std::bit_ceil(leaves.size()) / 2;
  return node(op, reduce(op, leaves.first(left)), reduce(op, leaves.subspan(left)));
}

}  // namespace oracle
