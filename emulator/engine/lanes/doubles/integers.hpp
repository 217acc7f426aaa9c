// Kernels of integers: shorts in the upper bits of lanes.
#pragma once

#include <cstdint>
#include <iterator>
#include <utility>

#include "emulator/engine/lanes/doubles/rows.hpp"

namespace gdr::doubles {

/// Operations on short integers, and their masks.
template <class H>
struct Integers {
  using D = typename H::D;
  using M = typename H::M;

  static constexpr std::uint64_t short_bits = ~((std::uint64_t{1} << 28) - 1);
  static D keep_short(D x) { return H::and_(x, H::set_bits(short_bits)); }

  /// A short is in the upper bits of the lane: sums wrap, and its sign is the lane's.
  template <int Op>
  static D integer_lane(D a, D b) {
    if constexpr (Op == 0) return H::bits_add(a, b);
    if constexpr (Op == 1) return H::bits_sub(a, b);
    if constexpr (Op == 2) return H::and_(a, b);
    if constexpr (Op == 3) return H::or_(a, b);
    if constexpr (Op == 4) return H::xor_(a, b);
    if constexpr (Op == 5) return H::xor_(a, H::set_bits(short_bits));
    if constexpr (Op == 6) return H::shlv(a, H::template shr<28>(b));
    if constexpr (Op == 7) return keep_short(H::shrv(a, H::template shr<28>(b)));
    if constexpr (Op == 8) {
      // The complement is shifted where the sign is set, so that ones are shifted in.
      const D fill = H::ones(H::bits_less(a, H::set(0)));
      return keep_short(H::xor_(H::shrv(H::xor_(a, fill), H::template shr<28>(b)), fill));
    }
    const D flip = H::set_bits(Op >= 11 ? H::sign : 0);
    const M less = H::bits_less(H::xor_(a, flip), H::xor_(b, flip));
    if constexpr (Op == 9 || Op == 11) return H::select(less, b, a);
    if constexpr (Op == 10 || Op == 12) return H::select(less, a, b);
    return a;
  }

  /// `Checked`: includes `check` of `a`.
  template <int Op, bool Checked>
  GDR_INLINE static void integer(const DoublesOp& op, DoublesRun& run) {
    unsigned failed = 0;
    for_each_vector<H>(op, run, [&failed](const Rows& r, std::size_t i) GDR_INLINE {
      const D a = H::load(r.a + i);
      if constexpr (Checked) failed |= any_beyond<H>(a);
      H::store(r.out + i, integer_lane<Op>(a, H::load(r.b + i)));
    });
    if (Checked && failed != 0) run.failure |= inexact;
  }

  /// The mask of an integer result that is not stored.
  template <int Op, bool Zero>
  GDR_INLINE static void integer_test(const DoublesOp& op, DoublesRun& run) {
    for_each_vector<H>(op, run, [](const Rows& r, std::size_t i) GDR_INLINE {
      const D x = integer_lane<Op>(H::load(r.a + i), H::load(r.b + i));
      const D zero = H::set(0);
      const M m = Zero ? H::bits_equal(x, zero) : H::bits_less(x, zero);
      H::store(r.out + i, H::ones(m));
    });
  }

  template <int... Op>
  static constexpr void set_all(DoublesKernels& k, std::integer_sequence<int, Op...>) {
    ((k.integer[Op] = chained<integer<Op, false>>), ...);
    ((k.integer_checked[Op] = chained<integer<Op, true>>), ...);
    ((k.integer_test[Op][0] = chained<integer_test<Op, false>>), ...);
    ((k.integer_test[Op][1] = chained<integer_test<Op, true>>), ...);
  }

  static constexpr void set(DoublesKernels& k) {
    set_all(k, std::make_integer_sequence<int, std::size(DoublesKernels{}.integer)>());
  }
};

}  // namespace gdr::doubles
