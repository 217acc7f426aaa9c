// Kernels of conversions between shorts and longs.
#pragma once

#include "emulator/engine/lanes/doubles/rows.hpp"

namespace gdr::doubles {

/// The same number as a short or a long.
template <class H>
struct Conversions {
  template <Form A, bool Long>
  GDR_INLINE static void convert(const DoublesOp& op, DoublesRun& run) {
    for_each_vector<H>(op, run, [](const Rows& r, std::size_t i) GDR_INLINE {
      Numbers<H> x = load<H, A>(r.a, r.a_tail, i);
      // A word with exponent 0 is a zero with any fraction, like the host's subnormals (DAZ).
      if constexpr (A == Form::Short && Long) x.h = H::round_short(x.h);
      store_rounded<H, Long, A>(r, i, x);
    });
  }

  template <Form A>
  static constexpr void set_conversion(DoublesKernels& k) {
    k.convert[static_cast<unsigned>(A)][0] = chained<convert<A, false>>;
    k.convert[static_cast<unsigned>(A)][1] = chained<convert<A, true>>;
  }

  static constexpr void set(DoublesKernels& k) {
    for_each_form([&]<Form A>() { set_conversion<A>(k); });
  }
};

}  // namespace gdr::doubles
