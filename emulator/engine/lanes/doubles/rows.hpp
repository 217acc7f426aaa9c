// What all kernels on doubles have in common: operands in registers, rows of lanes, the loop over
// them.
#pragma once

#include <cstddef>
#include <utility>

#include "emulator/engine/lanes/doubles/batch.hpp"
#include "emulator/engine/lanes/doubles/op.hpp"

/// Kernels on doubles made from a host's exact steps H: included by one file for each instruction
/// set. Templates over H only, so that no function is shared between instruction sets.
namespace gdr::doubles {

/// Numbers h + t in registers. `t` is unused if the form has no tail.
template <class H>
struct Numbers {
  typename H::D h, t;
};

template <class H, Form F>
inline Numbers<H> load(const double* lanes, const double* tail, std::size_t i) {
  if constexpr (F == Form::Pair) {
    return {H::load(lanes + i), H::load(tail + i)};
  } else {
    return {H::load(lanes + i), H::set(0)};
  }
}

/// Pairs of equal value have equal halves once they are normalized.
template <class H, Form F>
inline Numbers<H> normalized(Numbers<H> x) {
  if constexpr (F != Form::Pair) return x;
  const typename H::D h = H::head(x.h, x.t);
  return {h, H::add(H::sub(x.h, h), x.t)};
}

/// Nonzero if a lane is infinite or NaN.
template <class H>
GDR_INLINE inline unsigned any_beyond(const typename H::D& a) {
  return H::is_checked(a) ? 0 : H::template any<inexact>(H::beyond(a));
}

/// Pointers of one element; each operand's pointers advance by its step.
struct Rows {
  const double *a, *a_tail, *b, *b_tail, *mask, *old, *old_tail;
  double *out, *out_tail;
};

/// Lanes that a kernel writes: all, or those in which the mask is clear or set.
enum class Written { All, IfClear, IfSet };

template <class H, Written W, bool Tail = false>
inline void put(const Rows& r, std::size_t i, const typename H::D& x) {
  double* const to = (Tail ? r.out_tail : r.out) + i;
  if constexpr (W == Written::All) {
    H::store(to, x);
  } else {
    const typename H::M m = H::mask(H::load(r.mask + i));
    const typename H::D old = H::load((Tail ? r.old_tail : r.old) + i);
    H::store(to, W == Written::IfSet ? H::select(m, x, old) : H::select(m, old, x));
  }
}

/// Writes a number to all lanes of a result, rounded if that is a short.
template <class H, bool Long, Form F>
inline void store_rounded(const Rows& r, std::size_t i, const Numbers<H>& x) {
  if constexpr (Long) {
    H::store(r.out + i, x.h);
    H::store(r.out_tail + i, x.t);
  } else if constexpr (F == Form::Pair) {
    const typename H::D odd = H::odd_tail(x.h, x.t);
    H::store(r.out + i, H::round_short(H::or_(odd, H::and_(x.h, H::set_bits(H::sign)))));
  } else {
    H::store(r.out + i, H::round_short(x.h));
  }
}

template <class H>
inline double* row_at(const DoublesRun& run, std::size_t offset) {
  return reinterpret_cast<double*>(run.frame + offset);
}

/// Calls work(rows, lane) for each vector of an operation.
template <class H, class Work>
GDR_INLINE inline void for_each_vector(const DoublesOp& op, const DoublesRun& run, Work work) {
  Rows r{row_at<H>(run, op.a.lanes),  row_at<H>(run, op.a.tail),     row_at<H>(run, op.b.lanes),
         row_at<H>(run, op.b.tail),   row_at<H>(run, op.mask.lanes), row_at<H>(run, op.old.lanes),
         row_at<H>(run, op.old.tail), row_at<H>(run, op.out.lanes),  row_at<H>(run, op.out.tail)};
  const std::size_t a = op.a.step / sizeof(double), b = op.b.step / sizeof(double),
                    m = op.mask.step / sizeof(double), w = op.old.step / sizeof(double),
                    o = op.out.step / sizeof(double);
  const auto next = [&]() GDR_INLINE {
    r = {r.a + a,   r.a_tail + a,   r.b + b,   r.b_tail + b,  r.mask + m,
         r.old + w, r.old_tail + w, r.out + o, r.out_tail + o};
  };
  for (unsigned k = op.elements; k > 0; --k, next()) {
    for (std::size_t i = 0; i < op.lanes; i += H::width) work(r, i);
  }
}

/// A kernel that jumps to the next operation's: the host predicts one jump for each kernel best.
template <DoublesKernel Kernel>
void chained(const DoublesOp& op, DoublesRun& run) {
  Kernel(op, run);
  const DoublesOp& next = *(&op + 1);
  next.kernel(next, run);
}

/// Calls set.operator()<F>() for all forms, and that of <A, B> for all pairs of them.
template <class Set>
constexpr void for_each_form(Set set) {
  set.template operator()<Form::Short>();
  set.template operator()<Form::Head>();
  set.template operator()<Form::Pair>();
}
template <class Set>
constexpr void for_each_pair_of_forms(Set set) {
  for_each_form(
      [&]<Form A>() { for_each_form([&]<Form B>() { set.template operator()<A, B>(); }); });
}

}  // namespace gdr::doubles
