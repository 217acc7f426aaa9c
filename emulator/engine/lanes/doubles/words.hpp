// Machine words as lanes of doubles, and back: the two shorts of a long, words of the broadcast
// memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/engine/lanes/doubles/rows.hpp"

namespace gdr::doubles {

/// Conversions of lanes.
template <class H>
struct Words {
  using D = typename H::D;
  using M = typename H::M;

  static constexpr std::uint64_t fraction60 = (std::uint64_t{1} << 52) - 1;

  /// h and l of longs given as two shorts in the low 36 bits of lanes. Fails for infinities, NaN
  /// and zeros with a fraction.
  template <bool Tail>
  static Numbers<H> pair_of(D hi, D lo, std::uint64_t& failure) {
    const D h = H::or_(H::template shl<28>(hi), H::template shr<8>(lo));
    const D low = H::and_(lo, H::set_bits(255));
    const D power = H::and_(h, H::set_bits(H::sign | H::exponent));
    const D fraction = H::or_(H::and_(h, H::set_bits(fraction60)), low);
    const D field = H::and_(power, H::set_bits(H::exponent));
    const M none = H::bits_equal(field, H::set(0));
    const M dirty = H::both(none, H::not_(H::bits_equal(fraction, H::set(0))));
    const M special = H::bits_equal(field, H::set_bits(H::exponent));
    if (H::template any<inexact>(H::either(dirty, special)) != 0) failure |= inexact;
    if constexpr (!Tail) {
      if (H::template any<has_tail>(H::not_(H::bits_equal(low, H::set(0)))) != 0)
        failure |= has_tail;
      return {h, H::set(0)};
    }
    // power is 2^e with h's sign; in units of its 60th place.
    return {h, H::mul(H::mul(H::to_double(low), H::set(0x1p-60)), power)};
  }

  /// The two shorts of a pair.
  GDR_INLINE static void shorts_of(Numbers<H> x, D& hi, D& lo, std::uint64_t& failure) {
    const Numbers<H> n = normalized<H, Form::Pair>(x);
    const D field = H::and_(n.h, H::set_bits(H::exponent));
    // 2^-e as a double: biased 2046 - E. It is not normal from 2^1022 on.
    const D inverse = H::bits_sub(H::set_bits(std::uint64_t{2046} << 52), field);
    const M far = H::not_(H::less(field, H::set_bits(std::uint64_t{2045} << 52)));
    if (H::template any<inexact>(far) != 0) failure |= inexact;
    const D unit = H::mul(H::mul(H::and_(n.t, H::set_bits(~H::sign)), H::set(0x1p60)), inverse);
    const D low = H::to_integer(H::select(H::equal(n.t, H::set(0)), H::set(0), unit));
    hi = H::template shr<28>(n.h);
    lo = H::or_(H::template shl<8>(H::and_(n.h, H::set_bits((1U << 28) - 1))), low);
  }

  template <bool Tail>
  GDR_INLINE static void split(const DoublesOp& op, DoublesRun& run) {
    std::uint64_t failure = 0;
    for_each_vector<H>(op, run, [&failure](const Rows& r, std::size_t i) GDR_INLINE {
      D hi, lo;
      shorts_of({H::load(r.a + i), Tail ? H::load(r.a_tail + i) : H::set(0)}, hi, lo, failure);
      H::store(r.out + i, H::template shl<28>(hi));
      H::store(r.out_tail + i, H::template shl<28>(lo));
    });
    run.failure |= failure;
  }

  GDR_INLINE static void join(const DoublesOp& op, DoublesRun& run) {
    std::uint64_t failure = 0;
    for_each_vector<H>(op, run, [&failure](const Rows& r, std::size_t i) GDR_INLINE {
      const Numbers<H> x = pair_of<true>(H::template shr<28>(H::load(r.a + i)),
                                         H::template shr<28>(H::load(r.a_tail + i)), failure);
      H::store(r.out + i, x.h);
      H::store(r.out_tail + i, x.t);
    });
    run.failure |= failure;
  }

  template <Form F>
  GDR_INLINE static void fill(const DoublesOp& op, DoublesRun& run) {
    const std::uint64_t* word = run.memory[op.memory] + op.address;
    double* out = row_at<H>(run, op.out.lanes);
    double* tail = row_at<H>(run, op.out.tail);
    for (unsigned k = 0; k < op.elements; ++k) {
      Numbers<H> x{H::template shl<28>(H::broadcast(word)), H::set(0)};
      if constexpr (F != Form::Short) {
        std::uint64_t failure = 0;
        x = pair_of<F == Form::Pair>(H::broadcast(word), H::broadcast(word + 1), failure);
        run.failure |= failure;
      }
      for (std::size_t i = 0; i < op.lanes; i += H::width) {
        H::store(out + i, x.h);
        if constexpr (F != Form::Short) H::store(tail + i, x.t);
      }
      word += op.address_step;
      out += op.out.step / sizeof(double);
      tail += op.out.step / sizeof(double);
    }
  }

  template <Form F>
  static constexpr void set_fill(DoublesKernels& k) {
    k.fill[static_cast<unsigned>(F)] = chained<fill<F>>;
  }

  static constexpr void set(DoublesKernels& k) {
    for_each_form([&]<Form F>() { set_fill<F>(k); });
    k.split[0] = chained<split<false>>;
    k.split[1] = chained<split<true>>;
    k.join = chained<join>;
  }
};

}  // namespace gdr::doubles
