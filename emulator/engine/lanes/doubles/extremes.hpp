// Kernels of the larger and the smaller of two numbers.
#pragma once

#include "emulator/engine/lanes/doubles/rows.hpp"

namespace gdr::doubles {

/// The larger and the smaller of two numbers.
template <class H>
struct Extremes {
  using D = typename H::D;
  using M = typename H::M;

  template <bool Smaller, Form A, Form B, bool Long>
  GDR_INLINE static void extreme(const DoublesOp& op, DoublesRun& run) {
    constexpr Form wider = A == Form::Pair || B == Form::Pair ? Form::Pair : Form::Head;
    constexpr bool shorts = A == Form::Short && B == Form::Short && !Long;
    unsigned failed = 0;
    for_each_vector<H>(op, run, [&failed](const Rows& r, std::size_t i) GDR_INLINE {
      const Numbers<H> a = normalized<H, A>(load<H, A>(r.a, r.a_tail, i));
      const Numbers<H> b = normalized<H, B>(load<H, B>(r.b, r.b_tail, i));
      // Shorts are checked before where necessary, so that an infinity is exact.
      failed |= H::template any<inexact>(shorts ? H::unordered(a.h, b.h)
                                                : H::either(H::beyond(a.h), H::beyond(b.h)));
      const M equal = H::equal(a.h, b.h);
      const M less = H::either(H::less(a.h, b.h), H::both(equal, H::less(a.t, b.t)));
      Numbers<H> x{H::select(less, Smaller ? a.h : b.h, Smaller ? b.h : a.h),
                   H::select(less, Smaller ? a.t : b.t, Smaller ? b.t : a.t)};
      // The host compares zeros as equal; -0 is the smaller.
      const D zero = Smaller ? H::or_(a.h, b.h) : H::and_(a.h, b.h);
      x.h = H::select(H::equal(x.h, H::set(0)), H::and_(zero, H::set_bits(H::sign)), x.h);
      if constexpr (shorts) {
        H::store(r.out + i, x.h);
      } else {
        store_rounded<H, Long, wider>(r, i, x);
      }
    });
    if (failed != 0) run.failure |= inexact;
  }

  template <bool Smaller, Form A, Form B>
  static constexpr void set_pair(DoublesKernels& k) {
    DoublesKernel(&of_forms)[2] =
        k.extreme[Smaller][static_cast<unsigned>(A)][static_cast<unsigned>(B)];
    of_forms[0] = chained<extreme<Smaller, A, B, false>>;
    of_forms[1] = chained<extreme<Smaller, A, B, true>>;
  }

  static constexpr void set(DoublesKernels& k) {
    for_each_pair_of_forms([&]<Form A, Form B>() {
      set_pair<false, A, B>(k);
      set_pair<true, A, B>(k);
    });
  }
};

}  // namespace gdr::doubles
