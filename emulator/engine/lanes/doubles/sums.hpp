// Kernels of sums: both operands short or long, the result short or long.
#pragma once

#include "emulator/engine/lanes/doubles/rows.hpp"

namespace gdr::doubles {

/// Sums and differences, accumulations.
template <class H>
struct Sums {
  using D = typename H::D;
  using M = typename H::M;

  template <bool Subtract, Form A, Form B>
  static void exact_sum(H& host, const Numbers<H>& a, const Numbers<H>& b, D& s, D& t) {
    if constexpr (A == Form::Pair && B == Form::Pair) {
      const D tail = Subtract ? host.sub_proved(a.t, b.t) : host.add_proved(a.t, b.t);
      host.template two_sum_tail<Subtract>(a.h, tail, b.h, s, t);
    } else if constexpr (A == Form::Pair) {
      host.template two_sum_tail<Subtract>(a.h, a.t, b.h, s, t);
    } else if constexpr (B == Form::Pair) {
      const D tail = Subtract ? H::xor_(b.t, H::set_bits(H::sign)) : b.t;
      host.template two_sum_tail<Subtract>(a.h, tail, b.h, s, t);
    } else {
      H::template two_sum<Subtract>(a.h, b.h, s, t);
    }
  }

  /// `PlusZero`: of a pair that is never -0 and a short, as a long.
  template <bool Subtract, Form A, Form B, bool Long, Written W, bool PlusZero = false>
  GDR_INLINE static void sum(const DoublesOp& op, DoublesRun& run) {
    H host;
    for_each_vector<H>(op, run, [&host](const Rows& r, std::size_t i) GDR_INLINE {
      const Numbers<H> a = load<H, A>(r.a, r.a_tail, i);
      const Numbers<H> b = load<H, B>(r.b, r.b_tail, i);
      if constexpr (!Long && A == Form::Short && B == Form::Short) {
        put<H, W>(r, i, H::round_short(H::template short_sum<Subtract>(a.h, b.h)));
      } else if constexpr (!Long && A != Form::Pair && B != Form::Pair) {
        put<H, W>(r, i, H::template rounded_sum<Subtract>(a.h, b.h));
      } else {
        D s, t, h, l;
        if constexpr (PlusZero) {
          host.template long_sum<Subtract>(a.h, a.t, b.h, h, l);
        } else {
          exact_sum<Subtract, A, B>(host, a, b, s, t);
          if constexpr (Long) {
            host.round_long(s, t, h, l);
            h = H::template sum_sign<Subtract>(h, a.h, b.h);
          }
        }
        if constexpr (Long) {
          put<H, W>(r, i, h);
          put<H, W, true>(r, i, l);
        } else {
          const D odd = H::template sum_sign<Subtract>(H::odd_tail(s, t), a.h, b.h);
          put<H, W>(r, i, H::round_short(odd));
        }
      }
    });
    if (host.failed()) run.failure |= inexact;
  }

  /// a + b (a - b) to the rows of a, a pair that is never -0; a + 0 (a - 0) in excluded lanes.
  template <bool Subtract, Written W, bool Unnormalized>
  GDR_INLINE static void accumulate(const DoublesOp& op, DoublesRun& run) {
    H host;
    for_each_vector<H>(op, run, [&host](const Rows& r, std::size_t i) GDR_INLINE {
      const Numbers<H> a = load<H, Form::Pair>(r.a, r.a_tail, i);
      D b = H::load(r.b + i);
      if constexpr (W != Written::All) {
        const M m = H::mask(H::load(r.mask + i));
        b = W == Written::IfSet ? H::select(m, b, H::set(0)) : H::select(m, H::set(0), b);
      }
      D h, l;
      if constexpr (Unnormalized) {
        host.template unnormalized_sum<Subtract>(a.h, a.t, b, h, l);
      } else {
        host.template long_sum<Subtract>(a.h, a.t, b, h, l);
      }
      H::store(r.out + i, h);
      H::store(r.out_tail + i, l);
    });
    if (host.failed()) run.failure |= inexact;
  }

  template <bool Subtract, Form A, Form B>
  static constexpr void set_pair(DoublesKernels& k) {
    MaskableKernel(&of_forms)[2] =
        k.sum[Subtract][static_cast<unsigned>(A)][static_cast<unsigned>(B)];
    of_forms[0].always = chained<sum<Subtract, A, B, false, Written::All>>;
    of_forms[1].always = chained<sum<Subtract, A, B, true, Written::All>>;
  }

  /// Common sums under a predicate: of shorts, and of a long and a short as a long.
  template <bool Subtract, Written W>
  static constexpr void set_masked(DoublesKernels& k) {
    constexpr unsigned value = W == Written::IfSet ? 1 : 0;
    k.sum[Subtract][0][0][0].under[value] =
        chained<sum<Subtract, Form::Short, Form::Short, false, W>>;
    k.sum[Subtract][2][0][1].under[value] =
        chained<sum<Subtract, Form::Pair, Form::Short, true, W>>;
    k.accumulate[Subtract].under[value] =
        chained<sum<Subtract, Form::Pair, Form::Short, true, W, true>>;
    k.accumulate_in_place[Subtract].under[value] = chained<accumulate<Subtract, W, false>>;
    k.accumulate_unnormalized[Subtract].under[value] = chained<accumulate<Subtract, W, true>>;
  }

  template <bool Subtract>
  static constexpr void set_operation(DoublesKernels& k) {
    for_each_pair_of_forms([&]<Form A, Form B>() { set_pair<Subtract, A, B>(k); });
    k.accumulate[Subtract].always =
        chained<sum<Subtract, Form::Pair, Form::Short, true, Written::All, true>>;
    k.accumulate_unnormalized[Subtract].always = chained<accumulate<Subtract, Written::All, true>>;
    set_masked<Subtract, Written::IfClear>(k);
    set_masked<Subtract, Written::IfSet>(k);
  }

  static constexpr void set(DoublesKernels& k) {
    set_operation<false>(k);
    set_operation<true>(k);
  }
};

}  // namespace gdr::doubles
