// Steps that the mathematical functions share.
#include "kernels/compiler/lower/math.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "emulator/numeric/float.hpp"
#include "kernels/compiler/lower/builder.hpp"

namespace gdr::kc {

double nearest_short(double number) {
  Flags flags = no_flags;
  return double_from_long(short_from_double(number, flags), flags);
}

/// A product: one multiplier pass if a factor is a short, which is then the second one.
Ref Builder::product(Ref a, Ref b, Width width) {
  if (width_of(a) == Width::Short && width_of(b) == Width::Long) std::swap(a, b);
  return emit(width_of(b) == Width::Long ? Op::Dmul : Op::Fmul, width, a, b);
}

/// x times a constant, in one multiplier pass: with all bits of a short, with 25 bits of the
/// constant if x is a long.
Ref Builder::times_constant(const Ref& x, double constant) {
  const bool narrow = width_of(x) == Width::Long;
  return product(x, immediate(narrow ? nearest_short(constant) : constant), Width::Long);
}

/// c[0] + x (c[1] + x (c[2] + ...)) for |x| up to `largest`, by Horner's rule. Products are not
/// rounded. Sums that are a small part of the result are shorts; `limit` is that size, if it is not
/// for a short all and for a long what has no bits in common with 2^-54 of c[0]. The result has the
/// given width.
Ref Builder::horner(const Ref& x, double largest, std::span<const double> c, Width accuracy,
                    Width width, std::optional<double> limit) {
  // part[i]: the size of the sum of c[i] x^i and the following terms.
  std::vector<double> part(c.size());
  double size = 0;
  for (std::size_t i = c.size(); i-- > 0;) {
    size = size * largest + std::abs(c[i]);
    part[i] = size * std::pow(largest, static_cast<double>(i));
  }
  const double most = limit                      ? *limit
                      : accuracy == Width::Short ? std::numeric_limits<double>::infinity()
                                                 : short_part_of_long * std::abs(c[0]);
  const auto width_at = [&](std::size_t i) {
    return i == 0 ? width : part[i] <= most ? Width::Short : Width::Long;
  };
  std::size_t i = c.size() - 1;
  Ref p = immediate(width_at(i) == Width::Short ? nearest_short(c[i]) : c[i]);
  while (i-- > 0) p = emit(Op::Fadd, width_at(i), product(x, p, Width::Long), immediate(c[i]));
  return p;
}

/// The absolute value of a number with scale 1.
Ref Builder::absolute(const Ref& x) {
  if (width_of(x) == Width::Short) return emit(Op::Iand, Width::Short, x, bits(short_magnitude));
  return emit(Op::Fmax, Width::Long, x, emit(Op::Fsub, Width::Long, immediate(0), x));
}

/// The nearest integer to |x| below 2^23, of two the even one.
Ref Builder::rounded_short(const Ref& x) {
  return emit(Op::Fsub, Width::Short, emit(Op::Fadd, Width::Short, x, immediate(short_ones)),
              immediate(short_ones));
}

/// A short without the last bits, `dropped` of them: an operation on bits also rounds the number on
/// hosts whose numbers have more bits than a short.
Ref Builder::leading_bits(const Ref& x, unsigned dropped) {
  return emit(Op::Iand, Width::Short, x, bits((Short::mask >> dropped) << dropped));
}

/// A long as a short whose rest is taken next. The engine for the host's doubles rounds it, because
/// the program subtracts it, but not where it is a constant: outside of the loop, where operations
/// are free, one on bits rounds it everywhere.
Ref Builder::head_of(const Ref& x) {
  const Ref head = short_of(x);
  return invariant(x) ? leading_bits(head, 0) : head;
}

/// condition ? yes : no. Operands that nothing else reads cost no operation.
Ref Builder::where(Condition condition, const Ref& yes, const Ref& no, Width width) {
  return select(condition, yes, true, no, true, width);
}

/// A condition from the flag of a new operation.
Condition Builder::flag_of(Op op, const Ref& a, const Ref& b, MaskFlag flag) {
  const MaskId mask = new_mask();
  set_mask(mask, op, a, b, flag, none, true);
  return {mask, true};
}

/// A copy that a selection may overwrite.
Ref Builder::copy_of(const Ref& x, Width width) {
  return append_op({.op = Op::Fcvt, .width = width, .in = {x, {}}, .where = where_});
}

/// 1 or -1, with the sign of x.
Ref Builder::sign_of(const Ref& x) {
  const Ref sign = emit(Op::Iand, Width::Short, short_of(x), bits(~short_magnitude & Short::mask));
  return emit(Op::Ior, Width::Short, sign, bits(bits_of_one));
}

/// 1 / x in shorts, with scale 1.
Ref Builder::short_inverse(const Ref& x) {
  const Term inverse = reciprocal({x}, Width::Short);
  return emit(Op::Fmul, Width::Short, inverse.ref, immediate(nearest_short(1 / inverse.scale)));
}

/// 1 / x as a long. With an approximation y and e = 1 - x y it is y (1 + e + e^2 + ...). Two terms
/// suffice for a short result.
Ref Builder::inverse(const Ref& x, Width accuracy) {
  const Ref y = short_inverse(x);
  const Ref xy = product(x, y, Width::Long);
  Ref e = emit(Op::Fsub, accuracy, immediate(1), xy);
  if (accuracy == Width::Long) {
    const Ref ee = product(e, short_of(e), Width::Long);
    e = emit(Op::Fadd, Width::Long, e, ee);
  }
  return emit(Op::Fadd, Width::Long, y, product(e, y, Width::Long));
}

/// a / b of longs: q = a y, with an approximation y of 1 / b, then the correction (a - q b) y and
/// that of y, 1 - b y, to first order.
Ref Builder::quotient(const Ref& a, const Ref& b) {
  const Ref y = short_inverse(b);
  const Ref q = product(a, y, Width::Short);
  const Ref rest = emit(Op::Fsub, Width::Long, a, product(b, q, Width::Long));
  const Ref e = emit(Op::Fsub, Width::Short, immediate(1), product(b, y, Width::Long));
  const Ref first = product(rest, y, Width::Long);
  const Ref sum = emit(Op::Fadd, Width::Long, q, first);
  return emit(Op::Fadd, Width::Long, sum, product(first, e, Width::Long));
}

/// a / b of longs, with the accuracy of a short or a long.
Ref Builder::ratio(const Ref& a, const Ref& b, Width accuracy, Width width) {
  if (accuracy == Width::Long) return quotient(a, b);
  return product(a, inverse(b, Width::Short), width);
}

/// A number as a short and the rest, exactly.
Builder::Split Builder::split(const Ref& x) {
  if (width_of(x) == Width::Short) return {leading_bits(x, 0), {}};
  const Ref head = head_of(x);
  return {head, emit(Op::Fsub, Width::Long, x, head)};
}

/// An argument with scale 1; a constant in a value of its own.
Ref Builder::operand(const Term& x, Width width) {
  return x.constant ? emit(Op::Fcvt, width, immediate(x.number)) : plain(x, width_of(x.ref));
}

}  // namespace gdr::kc
