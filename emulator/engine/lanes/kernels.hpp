// Strip kernels made from lane operations: included by one file for each instruction set.
#pragma once

#include <utility>

#include "emulator/engine/lanes/double_floats.hpp"
#include "emulator/engine/lanes/integer_floats.hpp"
#include "emulator/engine/lanes/integer_lanes.hpp"
#include "emulator/engine/lanes/scalar_lanes.hpp"
#include "emulator/engine/lanes/strip.hpp"

namespace gdr {

/// One row of an element: eight bytes a PE.
struct RowPointers {
  const std::uint64_t *a_hi, *a_lo, *b_hi, *b_lo;
  std::uint64_t *hi, *lo;
};

using RowFunction = void (*)(const RowPointers& rows, std::size_t begin, std::size_t end);

/// Calls Row for the PEs in complete vectors, then Tail for the rest; both are inlined.
template <unsigned Width, RowFunction Row, RowFunction Tail>
void for_each_row(const Strip& s) {
  const std::size_t pes = s.pes;
  const std::size_t whole = pes / Width * Width;
  const std::size_t a = s.a.step;
  const std::size_t b = s.b.step;
  const std::size_t o = s.out.step;
  RowPointers p{s.a.hi, s.a.lo, s.b.hi, s.b.lo, s.out.hi, s.out.lo};
  for (unsigned k = s.elements;;) {
    Row(p, 0, whole);
    if (whole != pes) [[unlikely]]
      Tail(p, whole, pes);
    if (--k == 0) return;
    p = {p.a_hi + a, p.a_lo + a, p.b_hi + b, p.b_lo + b, p.hi + o, p.lo + o};
  }
}

template <class L>
void repair(FloatOp op, bool long_out, unsigned lanes, const Word2<L>& a, const Word2<L>& b,
            std::uint64_t* hi, std::uint64_t* lo) {
  std::uint64_t x[4][L::width];
  L::store(x[0], a.hi);
  L::store(x[1], a.lo);
  L::store(x[2], b.hi);
  L::store(x[3], b.lo);
  for (unsigned i = 0; i < L::width; ++i) {
    if (((lanes >> i) & 1) != 0) {
      repair_lane(op, long_out, x[0][i], x[1][i], x[2][i], x[3][i], hi + i, lo + i);
    }
  }
}

template <class L, bool IsLong>
Word2<L> load_word(const std::uint64_t* hi, const std::uint64_t* lo, std::size_t i) {
  if constexpr (IsLong) {
    return {L::load(hi + i), L::load(lo + i)};
  } else {
    return {L::load(hi + i), L::set(0)};
  }
}

/// The finite result of an operation; lanes with infinities or NaN are repaired by the caller.
template <class L, FloatOp Op, bool A, bool B, bool Out>
Word2<L> finite(Word2<L> a, Word2<L> b) {
  using F = IntegerFloats<L>;
  if constexpr (Op == FloatOp::Add) {
    return F::template add<A, B, Out>(a, b);
  } else if constexpr (Op == FloatOp::Sub) {
    b.hi = L::xor_(b.hi, L::set(FloatWords<L>::sign_bit));
    return F::template add<A, B, Out>(a, b);
  } else if constexpr (Op == FloatOp::Mul) {
    return F::template multiply_one_pass<A, Out>(a, b);
  } else if constexpr (Op == FloatOp::Dmul) {
    return F::template multiply_two_passes<A, B, Out>(a, b);
  } else {
    return F::template convert<A, Out>(a);
  }
}

/// Whether the operation is exact in the host's doubles, including infinities and NaN.
template <class L, FloatOp Op, bool A, bool B, bool Out>
constexpr bool by_double = L::has_float && !A && !B &&
                           (Op == FloatOp::Mul || Op == FloatOp::Dmul ||
                            ((Op == FloatOp::Add || Op == FloatOp::Sub) && !Out));

template <class L, FloatOp Op, bool Out>
void row_by_double(const RowPointers& p, std::size_t begin, std::size_t end) {
  using F = DoubleFloats<L>;
  for (std::size_t i = begin; i < end; i += L::width) {
    const auto a = F::as_double(L::load(p.a_hi + i));
    const auto b = F::as_double(L::load(p.b_hi + i));
    if constexpr (Op == FloatOp::Add) {
      L::store(p.hi + i, F::short_from_double(L::add_double(a, b)));
    } else if constexpr (Op == FloatOp::Sub) {
      L::store(p.hi + i, F::short_from_double(L::sub_double(a, b)));
    } else if constexpr (!Out) {
      L::store(p.hi + i, F::short_from_double(L::mul_double(a, b)));
    } else {
      const auto r = F::long_from_double(L::mul_double(a, b));
      L::store(p.hi + i, r.hi);
      L::store(p.lo + i, r.lo);
    }
  }
}

/// Sums and differences of longs as shorts: in doubles, inexact lanes by the scalar arithmetic.
template <class L, FloatOp Op, bool A, bool B>
void row_to_short(const RowPointers& p, std::size_t begin, std::size_t end) {
  using F = DoubleFloats<L>;
  for (std::size_t i = begin; i < end; i += L::width) {
    const Word2<L> a = load_word<L, A>(p.a_hi, p.a_lo, i);
    const Word2<L> b = load_word<L, B>(p.b_hi, p.b_lo, i);
    typename L::V r;
    const unsigned inexact = L::bits(F::template add_to_short<A, B, Op == FloatOp::Sub>(a, b, r));
    L::store(p.hi + i, r);
    if (inexact != 0) [[unlikely]] {
      repair<L>(Op, false, inexact, a, b, p.hi + i, p.lo + i);
    }
  }
}

/// A short added to or subtracted from a long, as accumulation does.
template <class L, FloatOp Op>
void row_to_long(const RowPointers& p, std::size_t begin, std::size_t end) {
  using F = DoubleFloats<L>;
  for (std::size_t i = begin; i < end; i += L::width) {
    const Word2<L> a = load_word<L, true>(p.a_hi, p.a_lo, i);
    const Word2<L> b = load_word<L, false>(p.b_hi, p.b_lo, i);
    Word2<L> r;
    const unsigned inexact = L::bits(F::template add_to_long<Op == FloatOp::Sub>(a, b, r));
    L::store(p.hi + i, r.hi);
    L::store(p.lo + i, r.lo);
    if (inexact != 0) [[unlikely]] {
      repair<L>(Op, true, inexact, a, b, p.hi + i, p.lo + i);
    }
  }
}

template <class L, FloatOp Op, bool A, bool B, bool Out>
inline void float_row(const RowPointers& p, std::size_t begin, std::size_t end) {
  constexpr bool sum = Op == FloatOp::Add || Op == FloatOp::Sub;
  if constexpr (by_double<L, Op, A, B, Out>) {
    row_by_double<L, Op, Out>(p, begin, end);
  } else if constexpr (L::has_float && sum && !Out) {
    row_to_short<L, Op, A, B>(p, begin, end);
  } else if constexpr (L::has_float && sum && A && !B) {
    row_to_long<L, Op>(p, begin, end);
  } else {
    constexpr bool unary = Op == FloatOp::Cvt;
    for (std::size_t i = begin; i < end; i += L::width) {
      const Word2<L> a = load_word<L, A>(p.a_hi, p.a_lo, i);
      const Word2<L> b = unary ? a : load_word<L, B>(p.b_hi, p.b_lo, i);
      const Word2<L> r = finite<L, Op, A, B, Out>(a, b);
      L::store(p.hi + i, r.hi);
      if constexpr (Out) L::store(p.lo + i, r.lo);
      const unsigned special = L::bits(FloatWords<L>::special(a, b));
      if (special != 0) [[unlikely]] {
        repair<L>(Op, Out, special, a, b, p.hi + i, p.lo + i);
      }
    }
  }
}

template <class L, class Tail, FloatOp Op, bool A, bool B, bool Out>
void float_strip(const Strip& s) {
  for_each_row<L::width, float_row<L, Op, A, B, Out>, float_row<Tail, Op, A, B, Out>>(s);
}

template <class L, IntOp Op, bool IsLong>
inline void int_row(const RowPointers& p, std::size_t begin, std::size_t end) {
  constexpr bool unary = Op == IntOp::Not || Op == IntOp::Pass || Op == IntOp::Upass;
  for (std::size_t i = begin; i < end; i += L::width) {
    const Word2<L> a = load_word<L, IsLong>(p.a_hi, p.a_lo, i);
    const Word2<L> b = unary ? a : load_word<L, IsLong>(p.b_hi, p.b_lo, i);
    if constexpr (IsLong) {
      const Word2<L> r = IntLanes<L>::template on_longs<Op>(a, b);
      L::store(p.hi + i, r.hi);
      L::store(p.lo + i, r.lo);
    } else {
      L::store(p.hi + i, IntLanes<L>::template on_shorts<Op>(a.hi, b.hi));
    }
  }
}

template <class L, class Tail, IntOp Op, bool IsLong>
void int_strip(const Strip& s) {
  for_each_row<L::width, int_row<L, Op, IsLong>, int_row<Tail, Op, IsLong>>(s);
}

template <class L>
void mask_row(RowTest test, const std::uint64_t* hi, const std::uint64_t* lo, std::uint64_t* to,
              std::size_t begin, std::size_t end) {
  using F = FloatWords<L>;
  const auto zero = L::set(0);
  for (std::size_t i = begin; i < end; i += L::width) {
    const auto x = L::load(hi + i);
    const auto negative = L::ne(L::and_(x, L::set(F::sign_bit)), zero);
    auto result = negative;
    // Results are canonical: a NaN has no sign, a zero has exponent 0.
    if (test == RowTest::FloatNegative) result = L::both(negative, L::ne(F::exponent_of(x), zero));
    if (test == RowTest::FloatZero) result = L::eq(F::exponent_of(x), zero);
    if (test == RowTest::ShortZero) result = L::eq(x, zero);
    if (test == RowTest::LongZero) result = L::eq(L::or_(x, L::load(lo + i)), zero);
    L::store(to + i, L::ones(result));
  }
}

template <class L, class Tail>
void mask_strip(RowTest test, const std::uint64_t* hi, const std::uint64_t* lo, std::uint64_t* to,
                std::size_t pes) {
  const std::size_t whole = pes / L::width * L::width;
  mask_row<L>(test, hi, lo, to, 0, whole);
  mask_row<Tail>(test, hi, lo, to, whole, pes);
}

template <class L>
void blend_row(const std::uint64_t* mask, bool value, const std::uint64_t* from, std::uint64_t* to,
               std::size_t begin, std::size_t end) {
  const auto off = L::set(value ? 0 : ~std::uint64_t{0});
  for (std::size_t i = begin; i < end; i += L::width) {
    const auto m = L::ne(L::load(mask + i), off);
    L::store(to + i, L::select(m, L::load(from + i), L::load(to + i)));
  }
}

template <class L, class Tail>
void blend_strip(const Blend& b) {
  const std::size_t whole = b.pes / L::width * L::width;
  for (unsigned r = 0; r < b.rows; ++r) {
    const std::uint64_t* from = b.from + r * b.pes;
    std::uint64_t* to = b.to + r * b.pes;
    blend_row<L>(b.mask, b.value, from, to, 0, whole);
    blend_row<Tail>(b.mask, b.value, from, to, whole, b.pes);
  }
}

template <class L, class Tail>
void fill_strip(const Fill& f) {
  const std::size_t whole = f.pes / L::width * L::width;
  for (unsigned k = 0; k < f.elements; ++k) {
    for (unsigned r = 0; r < f.rows; ++r) {
      const std::uint64_t word = f.words[k * f.word_step + r];
      const auto lanes = L::set(word);
      std::uint64_t* to = f.to + k * f.to_step + r * f.pes;
      for (std::size_t i = 0; i < whole; i += L::width) L::store(to + i, lanes);
      for (std::size_t i = whole; i < f.pes; ++i) to[i] = word;
    }
  }
}

template <class L, class Tail, FloatOp Op>
constexpr void set_float(StripKernel (&entry)[2][2][2]) {
  const auto set = [&]<bool A, bool B>() {
    entry[A][B][0] = float_strip<L, Tail, Op, A, B, false>;
    entry[A][B][1] = float_strip<L, Tail, Op, A, B, true>;
  };
  set.template operator()<false, false>();
  set.template operator()<false, true>();
  set.template operator()<true, false>();
  set.template operator()<true, true>();
}

/// Long shifts and comparisons are left to the scalar arithmetic.
template <class L, class Tail, int... N>
constexpr void set_integer(StripKernels& k, std::integer_sequence<int, N...>) {
  const auto set = [&]<IntOp Op>() {
    auto& entry = k.integer[static_cast<int>(Op)];
    entry[0] = int_strip<L, Tail, Op, false>;
    if constexpr (Op < IntOp::Shl || Op > IntOp::Umin) entry[1] = int_strip<L, Tail, Op, true>;
  };
  (set.template operator()<static_cast<IntOp>(N)>(), ...);
}

/// The whole table.
template <class L, class Tail>
constexpr StripKernels make_kernels() {
  StripKernels k{};
  set_float<L, Tail, FloatOp::Add>(k.fadd);
  set_float<L, Tail, FloatOp::Sub>(k.fsub);
  set_float<L, Tail, FloatOp::Mul>(k.fmul);
  set_float<L, Tail, FloatOp::Dmul>(k.dmul);
  k.fcvt[0][0] = float_strip<L, Tail, FloatOp::Cvt, false, false, false>;
  k.fcvt[0][1] = float_strip<L, Tail, FloatOp::Cvt, false, false, true>;
  k.fcvt[1][0] = float_strip<L, Tail, FloatOp::Cvt, true, false, false>;
  k.fcvt[1][1] = float_strip<L, Tail, FloatOp::Cvt, true, false, true>;
  set_integer<L, Tail>(k, std::make_integer_sequence<int, 15>());
  k.mask = mask_strip<L, Tail>;
  k.blend = blend_strip<L, Tail>;
  k.fill = fill_strip<L, Tail>;
  return k;
}

}  // namespace gdr
