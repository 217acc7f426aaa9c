// Integer operations on lanes.
#pragma once

#include <cstdint>

#include "emulator/engine/lanes/float_words.hpp"

namespace gdr {

/// Integer operations in the order of the instruction table.
enum class IntOp : std::uint8_t {
  Add,
  Sub,
  And,
  Or,
  Xor,
  Not,
  Shl,
  Shr,
  Asr,
  Max,
  Min,
  Umax,
  Umin,
  Pass,
  Upass
};

/// Short and long integers, long ones without shifts and comparisons.
template <class L>
struct IntLanes {
  using V = typename L::V;
  static constexpr std::uint64_t short_mask = (std::uint64_t{1} << 36) - 1;

  static V cut(V x) { return L::and_(x, L::set(short_mask)); }
  /// A short with its sign in bit 63, for comparisons.
  static V raise(V x) { return L::template shl<28>(x); }
  static V smaller(V count, std::uint64_t limit) {
    return L::select(L::lt(count, L::set(limit)), count, L::set(limit));
  }

  template <IntOp Op>
  static V on_shorts(V a, V b) {
    if constexpr (Op == IntOp::Add) return cut(L::add(a, b));
    if constexpr (Op == IntOp::Sub) return cut(L::sub(a, b));
    if constexpr (Op == IntOp::And) return L::and_(a, b);
    if constexpr (Op == IntOp::Or) return L::or_(a, b);
    if constexpr (Op == IntOp::Xor) return L::xor_(a, b);
    if constexpr (Op == IntOp::Not) return cut(L::xor_(a, L::set(short_mask)));
    if constexpr (Op == IntOp::Shl) return cut(L::shlv(a, smaller(b, 63)));
    if constexpr (Op == IntOp::Shr) return L::shrv(a, smaller(b, 63));
    if constexpr (Op == IntOp::Asr) {
      const auto negative = L::lt(raise(a), L::set(0));
      const V fill = L::keep(negative, L::set(short_mask));
      // The complement is shifted where the sign is set, so that ones are shifted in.
      return L::xor_(L::shrv(L::xor_(a, fill), smaller(b, 63)), fill);
    }
    if constexpr (Op == IntOp::Max) return L::select(L::lt(raise(a), raise(b)), b, a);
    if constexpr (Op == IntOp::Min) return L::select(L::lt(raise(b), raise(a)), b, a);
    if constexpr (Op == IntOp::Umax) return L::select(L::lt(a, b), b, a);
    if constexpr (Op == IntOp::Umin) return L::select(L::lt(b, a), b, a);
    return a;
  }

  template <IntOp Op>
  static Word2<L> on_longs(Word2<L> a, Word2<L> b) {
    if constexpr (Op == IntOp::Add) {
      const V lo = L::add(a.lo, b.lo);
      return {cut(L::add(L::add(a.hi, b.hi), L::template shr<36>(lo))), cut(lo)};
    } else if constexpr (Op == IntOp::Sub) {
      const V lo = L::sub(a.lo, b.lo);
      return {cut(L::sub(L::sub(a.hi, b.hi), L::template shr<63>(lo))), cut(lo)};
    } else {
      return {on_shorts<Op>(a.hi, b.hi), on_shorts<Op>(a.lo, b.lo)};
    }
  }
};

}  // namespace gdr
