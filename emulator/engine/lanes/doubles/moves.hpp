// Kernels that compute no number: tests to masks, checks, copies.
#pragma once

#include "emulator/engine/lanes/doubles/rows.hpp"

namespace gdr::doubles {

/// Masks of numbers, the check for infinities and NaN, rows as they are.
template <class H>
struct Moves {
  using D = typename H::D;

  template <bool Zero>
  GDR_INLINE static void test(const DoublesOp& op, DoublesRun& run) {
    unsigned failed = 0;
    for_each_vector<H>(op, run, [&failed](const Rows& r, std::size_t i) GDR_INLINE {
      const D a = H::load(r.a + i);
      failed |= any_beyond<H>(a);
      H::store(r.out + i, H::ones(Zero ? H::equal(a, H::set(0)) : H::less(a, H::set(0))));
    });
    if (failed != 0) run.failure |= inexact;
  }

  GDR_INLINE static void check(const DoublesOp& op, DoublesRun& run) {
    unsigned failed = 0;
    for_each_vector<H>(op, run, [&failed](const Rows& r, std::size_t i) GDR_INLINE {
      failed |= any_beyond<H>(H::load(r.a + i));
    });
    if (failed != 0) run.failure |= inexact;
  }

  template <bool Tail>
  GDR_INLINE static void copy(const DoublesOp& op, DoublesRun& run) {
    for_each_vector<H>(op, run, [](const Rows& r, std::size_t i) GDR_INLINE {
      H::store(r.out + i, H::load(r.a + i));
      if constexpr (Tail) H::store(r.out_tail + i, H::load(r.a_tail + i));
    });
  }

  template <bool Tail, Written W>
  GDR_INLINE static void blend(const DoublesOp& op, DoublesRun& run) {
    for_each_vector<H>(op, run, [](const Rows& r, std::size_t i) GDR_INLINE {
      put<H, W>(r, i, H::load(r.a + i));
      if constexpr (Tail) put<H, W, true>(r, i, H::load(r.a_tail + i));
    });
  }

  static constexpr void set(DoublesKernels& k) {
    k.test[0] = chained<test<false>>;
    k.test[1] = chained<test<true>>;
    k.check = chained<check>;
    k.copy[0] = chained<copy<false>>;
    k.copy[1] = chained<copy<true>>;
    k.blend[0][0] = chained<blend<false, Written::IfClear>>;
    k.blend[0][1] = chained<blend<false, Written::IfSet>>;
    k.blend[1][0] = chained<blend<true, Written::IfClear>>;
    k.blend[1][1] = chained<blend<true, Written::IfSet>>;
  }
};

}  // namespace gdr::doubles
