// Kernels on doubles made from a host's exact steps: included by one file for each instruction set.
#pragma once

#include <utility>

#include "emulator/engine/lanes/doubles/batch.hpp"
#include "emulator/engine/lanes/doubles/op.hpp"

namespace gdr {

template <class H>
struct DoublesKernelTable {
  using D = typename H::D;
  using M = typename H::M;

  static double* at(const DoublesRun& run, std::size_t offset) {
    return reinterpret_cast<double*>(run.frame + offset);
  }

  /// Operand in registers. `t` is unused if the form has no tail.
  struct Value {
    D h, t;
  };

  template <Form F>
  static Value load(const double* lanes, const double* tail, std::size_t i) {
    if constexpr (F == Form::Pair) {
      return {H::load(lanes + i), H::load(tail + i)};
    } else {
      return {H::load(lanes + i), H::set(0)};
    }
  }

  /// Nonzero if a lane is infinite or NaN.
  GDR_INLINE static unsigned any_beyond(const D& a) {
    return H::is_checked(a) ? 0 : H::template any<inexact>(H::beyond(a));
  }

  /// Pointers of one element; each operand's pointers advance by its step.
  struct Rows {
    const double *a, *a_tail, *b, *b_tail, *mask, *old, *old_tail;
    double *out, *out_tail;
  };

  /// Lanes that a kernel writes: all, or those in which the mask is clear or set.
  enum class When { Always, IfClear, IfSet };
  template <When W, bool Tail = false>
  static void put(const Rows& r, std::size_t i, const D& x) {
    double* const to = (Tail ? r.out_tail : r.out) + i;
    if constexpr (W == When::Always) {
      H::store(to, x);
    } else {
      const M m = H::mask(H::load(r.mask + i));
      const D old = H::load((Tail ? r.old_tail : r.old) + i);
      H::store(to, W == When::IfSet ? H::select(m, x, old) : H::select(m, old, x));
    }
  }

  template <class Work>
  GDR_INLINE static void for_each_vector(const DoublesOp& op, const DoublesRun& run, Work work) {
    Rows r{at(run, op.a.lanes),  at(run, op.a.tail),     at(run, op.b.lanes),
           at(run, op.b.tail),   at(run, op.mask.lanes), at(run, op.old.lanes),
           at(run, op.old.tail), at(run, op.out.lanes),  at(run, op.out.tail)};
    const std::size_t a = op.a.step / sizeof(double), b = op.b.step / sizeof(double),
                      m = op.mask.step / sizeof(double), w = op.old.step / sizeof(double),
                      o = op.out.step / sizeof(double);
    const auto next = [&]() GDR_INLINE {
      r = {r.a + a,   r.a_tail + a,   r.b + b,   r.b_tail + b,  r.mask + m,
           r.old + w, r.old_tail + w, r.out + o, r.out_tail + o};
    };
    if (op.lanes == H::width) [[likely]] {  // the chip's own 32 PEs: one loop less
      for (unsigned k = op.elements; k > 0; --k, next()) work(r, 0);
      return;
    }
    for (unsigned k = op.elements; k > 0; --k, next()) {
      for (std::size_t i = 0; i < op.lanes; i += H::width) work(r, i);
    }
  }

  // --- sums

  template <bool Subtract, Form A, Form B>
  static void exact_sum(H& host, const Value& a, const Value& b, D& s, D& t) {
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
  template <bool Subtract, Form A, Form B, bool Long, When W, bool PlusZero = false>
  GDR_INLINE static void sum(const DoublesOp& op, DoublesRun& run) {
    H host;
    for_each_vector(op, run, [&host](const Rows& r, std::size_t i) GDR_INLINE {
      const Value a = load<A>(r.a, r.a_tail, i);
      const Value b = load<B>(r.b, r.b_tail, i);
      if constexpr (!Long && A == Form::Short && B == Form::Short) {
        put<W>(r, i, H::round_short(H::template short_sum<Subtract>(a.h, b.h)));
      } else if constexpr (!Long && A != Form::Pair && B != Form::Pair) {
        put<W>(r, i, H::template rounded_sum<Subtract>(a.h, b.h));
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
          put<W>(r, i, h);
          put<W, true>(r, i, l);
        } else {
          const D odd = H::template sum_sign<Subtract>(H::odd_tail(s, t), a.h, b.h);
          put<W>(r, i, H::round_short(odd));
        }
      }
    });
    if (host.failed()) run.failure |= inexact;
  }

  /// a + b (a - b) to the rows of a, a pair that is never -0; a + 0 (a - 0) in excluded lanes.
  template <bool Subtract, When W, bool Unnormalized>
  GDR_INLINE static void accumulate(const DoublesOp& op, DoublesRun& run) {
    H host;
    for_each_vector(op, run, [&host](const Rows& r, std::size_t i) GDR_INLINE {
      const Value a = load<Form::Pair>(r.a, r.a_tail, i);
      D b = H::load(r.b + i);
      if constexpr (W != When::Always) {
        const M m = H::mask(H::load(r.mask + i));
        b = W == When::IfSet ? H::select(m, b, H::set(0)) : H::select(m, H::set(0), b);
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

  // --- products

  /// The leading bits of an operand that the multiplier reads: 50, or 25 of the second in one pass.
  template <Form F, std::uint64_t Dropped>
  static D cut(const Value& x) {
    if constexpr (F == Form::Short) return x.h;
    const D h = F == Form::Pair ? H::head(x.h, x.t) : x.h;
    return H::and_(h, H::set_bits(~Dropped));
  }

  template <bool TwoPasses, Form A, Form B, bool Long, When W>
  GDR_INLINE static void product(const DoublesOp& op, DoublesRun& run) {
    H host;
    constexpr std::uint64_t low3 = 7;
    constexpr std::uint64_t low28 = (std::uint64_t{1} << 28) - 1;
    constexpr bool exact = A == Form::Short && B == Form::Short;
    for_each_vector(op, run, [&host](const Rows& r, std::size_t i) GDR_INLINE {
      const D a = cut<A, low3>(load<A>(r.a, r.a_tail, i));
      const D b = cut < B, TwoPasses ? low3 : low28 > (load<B>(r.b, r.b_tail, i));
      if constexpr (exact && !Long) {
        put<W>(r, i, H::round_short(H::short_product(a, b)));
      } else if constexpr (exact) {
        put<W>(r, i, H::mul(a, b));
        put<W, true>(r, i, H::set(0));
      } else if constexpr (Long) {
        D h, l;
        host.long_product(a, b, h, l);
        put<W>(r, i, h);
        put<W, true>(r, i, l);
      } else {
        put<W>(r, i, H::rounded_product(a, b));
      }
    });
    if (host.failed()) run.failure |= inexact;
  }

  // --- the larger, the smaller, conversions

  /// Pairs of equal value have equal halves once they are normalized.
  template <Form F>
  static Value normalized(Value x) {
    if constexpr (F != Form::Pair) return x;
    const D h = H::head(x.h, x.t);
    return {h, H::add(H::sub(x.h, h), x.t)};
  }

  template <bool Long, Form F>
  static void store_rounded(const Rows& r, std::size_t i, const Value& x) {
    if constexpr (Long) {
      H::store(r.out + i, x.h);
      H::store(r.out_tail + i, x.t);
    } else if constexpr (F == Form::Pair) {
      const D odd = H::odd_tail(x.h, x.t);
      H::store(r.out + i, H::round_short(H::or_(odd, H::and_(x.h, H::set_bits(H::sign)))));
    } else {
      H::store(r.out + i, H::round_short(x.h));
    }
  }

  template <bool Smaller, Form A, Form B, bool Long>
  GDR_INLINE static void extreme(const DoublesOp& op, DoublesRun& run) {
    constexpr Form wider = A == Form::Pair || B == Form::Pair ? Form::Pair : Form::Head;
    constexpr bool shorts = A == Form::Short && B == Form::Short && !Long;
    unsigned failed = 0;
    for_each_vector(op, run, [&failed](const Rows& r, std::size_t i) GDR_INLINE {
      const Value a = normalized<A>(load<A>(r.a, r.a_tail, i));
      const Value b = normalized<B>(load<B>(r.b, r.b_tail, i));
      // Shorts are checked before where necessary, so that an infinity is exact.
      failed |= H::template any<inexact>(shorts ? H::unordered(a.h, b.h)
                                                : H::either(H::beyond(a.h), H::beyond(b.h)));
      const M equal = H::equal(a.h, b.h);
      const M less = H::either(H::less(a.h, b.h), H::both(equal, H::less(a.t, b.t)));
      Value x{H::select(less, Smaller ? a.h : b.h, Smaller ? b.h : a.h),
              H::select(less, Smaller ? a.t : b.t, Smaller ? b.t : a.t)};
      // The host compares zeros as equal; -0 is the smaller.
      const D zero = Smaller ? H::or_(a.h, b.h) : H::and_(a.h, b.h);
      x.h = H::select(H::equal(x.h, H::set(0)), H::and_(zero, H::set_bits(H::sign)), x.h);
      if constexpr (shorts) {
        H::store(r.out + i, x.h);
      } else {
        store_rounded<Long, wider>(r, i, x);
      }
    });
    if (failed != 0) run.failure |= inexact;
  }

  template <Form A, bool Long>
  GDR_INLINE static void convert(const DoublesOp& op, DoublesRun& run) {
    for_each_vector(op, run, [](const Rows& r, std::size_t i) GDR_INLINE {
      Value x = load<A>(r.a, r.a_tail, i);
      // A word with exponent 0 is a zero with any fraction, like the host's subnormals (DAZ).
      if constexpr (A == Form::Short && Long) x.h = H::round_short(x.h);
      store_rounded<Long, A>(r, i, x);
    });
  }

  // --- integers

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
    for_each_vector(op, run, [&failed](const Rows& r, std::size_t i) GDR_INLINE {
      const D a = H::load(r.a + i);
      if constexpr (Checked) failed |= any_beyond(a);
      H::store(r.out + i, integer_lane<Op>(a, H::load(r.b + i)));
    });
    if (Checked && failed != 0) run.failure |= inexact;
  }

  /// The mask of an integer result that is not stored.
  template <int Op, bool Zero>
  GDR_INLINE static void integer_test(const DoublesOp& op, DoublesRun& run) {
    for_each_vector(op, run, [](const Rows& r, std::size_t i) GDR_INLINE {
      const D x = integer_lane<Op>(H::load(r.a + i), H::load(r.b + i));
      const D zero = H::set(0);
      const M m = Zero ? H::bits_equal(x, zero) : H::bits_less(x, zero);
      H::store(r.out + i, H::ones(m));
    });
  }

  // --- masks

  template <bool Zero>
  GDR_INLINE static void test(const DoublesOp& op, DoublesRun& run) {
    unsigned failed = 0;
    for_each_vector(op, run, [&failed](const Rows& r, std::size_t i) GDR_INLINE {
      const D a = H::load(r.a + i);
      failed |= any_beyond(a);
      H::store(r.out + i, H::ones(Zero ? H::equal(a, H::set(0)) : H::less(a, H::set(0))));
    });
    if (failed != 0) run.failure |= inexact;
  }

  GDR_INLINE static void check(const DoublesOp& op, DoublesRun& run) {
    unsigned failed = 0;
    for_each_vector(op, run, [&failed](const Rows& r, std::size_t i) GDR_INLINE {
      failed |= any_beyond(H::load(r.a + i));
    });
    if (failed != 0) run.failure |= inexact;
  }

  // --- moves

  template <bool Tail>
  GDR_INLINE static void copy(const DoublesOp& op, DoublesRun& run) {
    for_each_vector(op, run, [](const Rows& r, std::size_t i) GDR_INLINE {
      H::store(r.out + i, H::load(r.a + i));
      if constexpr (Tail) H::store(r.out_tail + i, H::load(r.a_tail + i));
    });
  }

  template <bool Tail, When W>
  GDR_INLINE static void blend(const DoublesOp& op, DoublesRun& run) {
    for_each_vector(op, run, [](const Rows& r, std::size_t i) GDR_INLINE {
      put<W>(r, i, H::load(r.a + i));
      if constexpr (Tail) put<W, true>(r, i, H::load(r.a_tail + i));
    });
  }

  // --- between words and doubles

  static constexpr std::uint64_t fraction60 = (std::uint64_t{1} << 52) - 1;

  /// h and l of longs given as two shorts in the low 36 bits of lanes. Fails for infinities, NaN
  /// and zeros with a fraction.
  template <bool Tail>
  static Value pair_of(D hi, D lo, std::uint64_t& failure) {
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
  GDR_INLINE static void shorts_of(Value x, D& hi, D& lo, std::uint64_t& failure) {
    const Value n = normalized<Form::Pair>(x);
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
    for_each_vector(op, run, [&failure](const Rows& r, std::size_t i) GDR_INLINE {
      D hi, lo;
      shorts_of({H::load(r.a + i), Tail ? H::load(r.a_tail + i) : H::set(0)}, hi, lo, failure);
      H::store(r.out + i, H::template shl<28>(hi));
      H::store(r.out_tail + i, H::template shl<28>(lo));
    });
    run.failure |= failure;
  }

  GDR_INLINE static void join(const DoublesOp& op, DoublesRun& run) {
    std::uint64_t failure = 0;
    for_each_vector(op, run, [&failure](const Rows& r, std::size_t i) GDR_INLINE {
      const Value x = pair_of<true>(H::template shr<28>(H::load(r.a + i)),
                                    H::template shr<28>(H::load(r.a_tail + i)), failure);
      H::store(r.out + i, x.h);
      H::store(r.out_tail + i, x.t);
    });
    run.failure |= failure;
  }

  template <Form F>
  GDR_INLINE static void fill(const DoublesOp& op, DoublesRun& run) {
    const std::uint64_t* word = run.memory[op.memory] + op.address;
    double* out = at(run, op.out.lanes);
    double* tail = at(run, op.out.tail);
    for (unsigned k = 0; k < op.elements; ++k) {
      Value x{H::template shl<28>(H::broadcast(word)), H::set(0)};
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

  /// Calls work(rows) for the rows of each word.
  template <class Work>
  GDR_INLINE static std::uint64_t for_each_word(StateRows rows, Work work) {
    std::uint64_t failure = 0;
    for (std::uint32_t n = rows.count; n > 0; --n) {
      failure |= work(rows);
      rows.hi += rows.state_step;
      rows.lo += rows.state_step;
      rows.lanes += rows.frame_step;
      rows.tail += rows.frame_step;
    }
    return failure;
  }

  template <Form F>
  static std::uint64_t import(const StateRows& words) {
    return for_each_word(words, [](const StateRows& rows) GDR_INLINE {
      std::uint64_t failure = 0;
      for (std::size_t i = 0; i < rows.padded; i += H::width) {
        const std::size_t left = rows.pes > i ? rows.pes - i : 0;
        const D hi = H::load_some(rows.hi + i, left, rows.hi[0]);
        Value x{H::template shl<28>(hi), H::set(0)};
        if constexpr (F != Form::Short) {
          x = pair_of<F == Form::Pair>(hi, H::load_some(rows.lo + i, left, rows.lo[0]), failure);
        }
        if (rows.plus_zero &&
            H::template any<has_tail>(H::bits_equal(x.h, H::set_bits(H::sign))) != 0) {
          failure |= has_tail;
        }
        H::store(rows.lanes + i, x.h);
        if constexpr (F != Form::Short) H::store(rows.tail + i, x.t);
      }
      return failure;
    });
  }

  template <Form F, bool Checked = false>
  static std::uint64_t export_(const StateRows& words) {
    return for_each_word(words, [](const StateRows& rows) GDR_INLINE {
      std::uint64_t failure = 0;
      for (std::size_t i = 0; i < rows.pes; i += H::width) {
        const D h = H::load(rows.lanes + i);
        if (Checked && H::template any<inexact>(H::beyond(h)) != 0) failure = inexact;
        D hi = H::template shr<28>(h), lo = H::set(0);
        if constexpr (F != Form::Short) {
          shorts_of({h, F == Form::Pair ? H::load(rows.tail + i) : H::set(0)}, hi, lo, failure);
          H::store_some(rows.lo + i, rows.pes - i, lo);
        }
        H::store_some(rows.hi + i, rows.pes - i, hi);
      }
      return failure;
    });
  }

  static std::uint64_t check_result(const StateRows& words) {
    return for_each_word(words, [](const StateRows& rows) GDR_INLINE {
      std::uint64_t failure = 0;
      for (std::size_t i = 0; i < rows.pes; i += H::width) {
        if (H::template any<inexact>(H::beyond(H::load(rows.lanes + i))) != 0) failure = inexact;
      }
      return failure;
    });
  }

  // --- the table

  /// A kernel that jumps to the next operation's: the host predicts one jump for each kernel best.
  template <DoublesKernel Kernel>
  static void chained(const DoublesOp& op, DoublesRun& run) {
    Kernel(op, run);
    const DoublesOp& next = *(&op + 1);
    next.kernel(next, run);
  }

  template <bool Second, Form A, Form B>
  static constexpr void set_binary(DoublesKernels& k) {
    constexpr auto a = static_cast<unsigned>(A), b = static_cast<unsigned>(B);
    constexpr auto always = When::Always;
    k.sum[Second][a][b][0].always = chained<sum<Second, A, B, false, always>>;
    k.sum[Second][a][b][1].always = chained<sum<Second, A, B, true, always>>;
    k.product[Second][a][b][0].always = chained<product<Second, A, B, false, always>>;
    k.product[Second][a][b][1].always = chained<product<Second, A, B, true, always>>;
    k.extreme[Second][a][b][0] = chained<extreme<Second, A, B, false>>;
    k.extreme[Second][a][b][1] = chained<extreme<Second, A, B, true>>;
  }
  template <bool Second, unsigned... AB>
  static constexpr void set_all_binary(DoublesKernels& k, std::integer_sequence<unsigned, AB...>) {
    (set_binary<Second, static_cast<Form>(AB / form_count), static_cast<Form>(AB % form_count)>(k),
     ...);
    k.accumulate[Second].always =
        chained<sum<Second, Form::Pair, Form::Short, true, When::Always, true>>;
    k.accumulate_unnormalized[Second].always = chained<accumulate<Second, When::Always, true>>;
    set_masked<Second, When::IfClear>(k);
    set_masked<Second, When::IfSet>(k);
  }

  /// Common operations under a predicate: on shorts, and sums of shorts in a long.
  template <bool Second, When W>
  static constexpr void set_masked(DoublesKernels& k) {
    constexpr unsigned value = W == When::IfSet ? 1 : 0;
    k.sum[Second][0][0][0].under[value] = chained<sum<Second, Form::Short, Form::Short, false, W>>;
    k.sum[Second][2][0][1].under[value] = chained<sum<Second, Form::Pair, Form::Short, true, W>>;
    k.accumulate[Second].under[value] =
        chained<sum<Second, Form::Pair, Form::Short, true, W, true>>;
    k.accumulate_in_place[Second].under[value] = chained<accumulate<Second, W, false>>;
    k.accumulate_unnormalized[Second].under[value] = chained<accumulate<Second, W, true>>;
    k.product[Second][0][0][0].under[value] =
        chained<product<Second, Form::Short, Form::Short, false, W>>;
  }

  template <Form F>
  static constexpr void set_unary(DoublesKernels& k) {
    constexpr auto f = static_cast<unsigned>(F);
    k.convert[f][0] = chained<convert<F, false>>;
    k.convert[f][1] = chained<convert<F, true>>;
    k.fill[f] = chained<fill<F>>;
    if constexpr (H::holds_lanes) {
      k.import[f] = import <F>;
      k.export_[f] = export_<F>;
    }
  }

  template <int... Op>
  static constexpr void set_integer(DoublesKernels& k, std::integer_sequence<int, Op...>) {
    ((k.integer[Op] = chained<integer<Op, false>>), ...);
    ((k.integer_checked[Op] = chained<integer<Op, true>>), ...);
    ((k.integer_test[Op][0] = chained<integer_test<Op, false>>), ...);
    ((k.integer_test[Op][1] = chained<integer_test<Op, true>>), ...);
  }

  /// `batch`: rows have a multiple of so many lanes; at least H::width.
  static constexpr DoublesKernels make(std::uint32_t batch) {
    DoublesKernels k{};
    k.batch = batch;
    constexpr std::make_integer_sequence<unsigned, form_count * form_count> forms{};
    set_all_binary<false>(k, forms);
    set_all_binary<true>(k, forms);
    set_unary<Form::Short>(k);
    set_unary<Form::Head>(k);
    set_unary<Form::Pair>(k);
    set_integer(k, std::make_integer_sequence<int, 15>());
    k.test[0] = chained<test<false>>;
    k.test[1] = chained<test<true>>;
    k.copy[0] = chained<copy<false>>;
    k.copy[1] = chained<copy<true>>;
    k.blend[0][0] = chained<blend<false, When::IfClear>>;
    k.blend[0][1] = chained<blend<false, When::IfSet>>;
    k.blend[1][0] = chained<blend<true, When::IfClear>>;
    k.blend[1][1] = chained<blend<true, When::IfSet>>;
    k.check = chained<check>;
    if constexpr (H::holds_lanes) {
      k.check_result = check_result;
      k.export_result = export_<Form::Short, true>;
    }
    k.split[0] = chained<split<false>>;
    k.split[1] = chained<split<true>>;
    k.join = chained<join>;
    k.leave = H::leave;
    k.failure_flags = H::failure_flags;
    return k;
  }
};

}  // namespace gdr
