// The operations of an instruction set on a single lane.
#pragma once

#include <cstdint>

namespace gdr {

/// One lane at a time: the portable instruction set, and the odd lanes at the end of a row. `Tag`
/// separates instances compiled for different instruction sets.
template <int Tag>
struct ScalarLanes {
  using V = std::uint64_t;
  using M = bool;
  static constexpr unsigned width = 1;
  static constexpr bool has_float = false;

  static V load(const std::uint64_t* p) { return *p; }
  static void store(std::uint64_t* p, V v) { *p = v; }
  static V set(std::uint64_t x) { return x; }
  static V add(V a, V b) { return a + b; }
  static V sub(V a, V b) { return a - b; }
  static V and_(V a, V b) { return a & b; }
  static V or_(V a, V b) { return a | b; }
  static V xor_(V a, V b) { return a ^ b; }
  /// (a & mask) | b.
  static V and_or(V a, V mask, V b) { return (a & mask) | b; }
  template <int N>
  static V shl(V a) {
    return a << N;
  }
  template <int N>
  static V shr(V a) {
    return a >> N;
  }
  static V shlv(V a, V n) { return n > 63 ? 0 : a << n; }
  static V shrv(V a, V n) { return n > 63 ? 0 : a >> n; }
  /// Product of the low 32 bits.
  static V mul32(V a, V b) { return (a & 0xffffffffU) * (b & 0xffffffffU); }
  static V leading_zeros(V a) { return a == 0 ? 64 : static_cast<V>(__builtin_clzll(a)); }
  static M eq(V a, V b) { return a == b; }
  static M ne(V a, V b) { return a != b; }
  /// Signed comparison a < b.
  static M lt(V a, V b) { return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b); }
  static M lt_unsigned(V a, V b) { return a < b; }
  static M both(M a, M b) { return a && b; }
  static M either(M a, M b) { return a || b; }
  static V select(M m, V yes, V no) { return m ? yes : no; }
  static V keep(M m, V v) { return m ? v : 0; }
  static V ones(M m) { return m ? ~V{0} : 0; }
  static unsigned bits(M m) { return m ? 1 : 0; }
};

}  // namespace gdr
