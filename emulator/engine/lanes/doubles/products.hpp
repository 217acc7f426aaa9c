// Kernels of products: the bits of its operands that the multiplier reads, rounded once.
#pragma once

#include <cstdint>

#include "emulator/engine/lanes/doubles/rows.hpp"

namespace gdr::doubles {

/// Products in one and in two passes of the multiplier.
template <class H>
struct Products {
  using D = typename H::D;

  /// The leading bits of an operand that the multiplier reads: 50, or 25 of the second in one pass.
  template <Form F, std::uint64_t Dropped>
  static D cut(const Numbers<H>& x) {
    if constexpr (F == Form::Short) return x.h;
    const D h = F == Form::Pair ? H::head(x.h, x.t) : x.h;
    return H::and_(h, H::set_bits(~Dropped));
  }

  template <bool TwoPasses, Form A, Form B, bool Long, Written W>
  GDR_INLINE static void product(const DoublesOp& op, DoublesRun& run) {
    H host;
    constexpr std::uint64_t low3 = 7;
    constexpr std::uint64_t low28 = (std::uint64_t{1} << 28) - 1;
    constexpr bool exact = A == Form::Short && B == Form::Short;
    for_each_vector<H>(op, run, [&host](const Rows& r, std::size_t i) GDR_INLINE {
      const D a = cut<A, low3>(load<H, A>(r.a, r.a_tail, i));
      const D b = cut < B, TwoPasses ? low3 : low28 > (load<H, B>(r.b, r.b_tail, i));
      if constexpr (exact && !Long) {
        put<H, W>(r, i, H::round_short(H::short_product(a, b)));
      } else if constexpr (exact) {
        put<H, W>(r, i, H::mul(a, b));
        put<H, W, true>(r, i, H::set(0));
      } else if constexpr (Long) {
        D h, l;
        host.long_product(a, b, h, l);
        put<H, W>(r, i, h);
        put<H, W, true>(r, i, l);
      } else {
        put<H, W>(r, i, H::rounded_product(a, b));
      }
    });
    if (host.failed()) run.failure |= inexact;
  }

  template <bool TwoPasses, Form A, Form B>
  static constexpr void set_pair(DoublesKernels& k) {
    MaskableKernel(&of_forms)[2] =
        k.product[TwoPasses][static_cast<unsigned>(A)][static_cast<unsigned>(B)];
    of_forms[0].always = chained<product<TwoPasses, A, B, false, Written::All>>;
    of_forms[1].always = chained<product<TwoPasses, A, B, true, Written::All>>;
  }

  template <bool TwoPasses>
  static constexpr void set_operation(DoublesKernels& k) {
    for_each_pair_of_forms([&]<Form A, Form B>() { set_pair<TwoPasses, A, B>(k); });
    MaskableKernel& shorts = k.product[TwoPasses][0][0][0];
    shorts.under[0] =
        chained<product<TwoPasses, Form::Short, Form::Short, false, Written::IfClear>>;
    shorts.under[1] = chained<product<TwoPasses, Form::Short, Form::Short, false, Written::IfSet>>;
  }

  static constexpr void set(DoublesKernels& k) {
    set_operation<false>(k);
    set_operation<true>(k);
  }
};

}  // namespace gdr::doubles
