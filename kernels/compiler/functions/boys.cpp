// Boys functions F_m(T), the integral of t^(2m) exp(-T t^2) from 0 to 1: the largest order that the
// kernel needs of a T, then downward recursion (2m - 1) F_(m-1) = 2 T F_m + e^-T, whose terms are
// positive (T. Helgaker, P. Jorgensen, J. Olsen, Molecular Electronic-Structure Theory,
// section 9.8).
//
// F_m(T) amplifies a relative error of T by up to m + 1/2, and the multiplier cuts a long factor to
// 50 bits. So longs are processed with T as the sum of a short, by which products are exact, and a
// small rest.
#include <algorithm>
#include <span>
#include <vector>

#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc::functions {
namespace {

/// Up to T = m + 8 e^(-share T) times a polynomial; from there on, this is the part of the upper
/// incomplete gamma function, at most.
constexpr double near_end = 8;
constexpr double upper_part = 0.02;
constexpr double largest_exponent = 700;

/// The share is 1/4 for order 0, 1/2 up to this order, 3/4 for larger ones.
constexpr int largest_of_half_share = 4;

/// Cuts of long factors that the largest order sees: those in the products up to it, and half of
/// those in the last product of the other orders.
constexpr double far_cuts = 3, near_cuts = 4;

/// Up to this order the factors of e^-T in the recursion are shorts; beyond, they cut it once more
/// on average.
constexpr int largest_of_one_cut = 8;

/// Integers up to this are shorts.
constexpr double largest_short_integer = 0x1p25;

/// Gamma(m + 1/2) / 2.
double half_gamma(int m) {
  double value = 0.88622692545275801364908374167057;  // of 1/2: sqrt(pi) / 2
  for (int k = 1; k <= m; ++k) value *= k - 0.5;
  return value;
}

/// A long as a short and a rest, if `accuracy` is that of a long.
Split split_long(Builder& b, const Ref& x, Width accuracy) {
  return accuracy == Width::Long && b.width_of(x) == Width::Long ? b.split(x) : Split{x, {}};
}

/// x^2 in as many multiplier passes as a product of longs takes, but without cutting x:
/// head^2 + (x + head) tail.
Ref square_of(Builder& b, const Ref& x, Width accuracy) {
  if (accuracy == Width::Short) return b.product(x, x, Width::Long);
  const Ref head = b.head_of(x);
  const Ref tail = b.emit(Op::Fsub, Width::Short, x, head);
  const Ref rest = b.product(b.emit(Op::Fadd, Width::Long, x, head), tail, Width::Long);
  return b.emit(Op::Fadd, Width::Long, b.product(head, head, Width::Long), rest);
}

/// The part of a number that is lost on average if `cuts` long factors are cut: 2^-50 / log 4 each
/// on the chip, whose multiplier cuts them to 50 bits, and nothing on hosts that do not.
Ref mean_loss(Builder& b, double cuts) {
  const Ref x = b.immediate(1 + 3 * 0x1p-52);
  const Ref one =
      b.emit(Op::Fsub, Width::Short, x, b.emit(Op::Fmul, Width::Long, x, b.immediate(1)));
  return b.product(one, b.immediate(cuts), Width::Short);
}

/// F_m for T above m + 8: Gamma(m + 1/2) / (2 T^(m + 1/2)) - e^-T S(1/T) / (2 T).
///
/// With a short u near 1 / T and a short y near its root, T^-(m + 1/2) is u^m y (1 + c), where c
/// follows from a = 1 - T u and a - h = 1 - T y^2 by Taylor's series.
Ref boys_far(Builder& b, int m, const Split& t, const Ref& e, Width accuracy) {
  const Width half = Width::Short, wide = Width::Long;
  const Term seed = b.rsqrt({t.head}, half);
  const Ref y = b.emit(Op::Fmul, half, seed.ref, b.immediate(nearest_short(1 / seed.scale)));
  const Ref yy = b.product(y, y, wide);
  const Ref u = b.head_of(yy);
  Ref a = b.emit(Op::Fsub, wide, b.immediate(1), b.product(t.head, u, wide));
  if (t.tail.kind != Ref::Kind::None) a = b.emit(Op::Fsub, wide, a, b.product(t.tail, u, wide));
  const double order = m + 0.5;
  Ref c = b.product(a, b.immediate(order), accuracy);
  if (accuracy == Width::Long) {
    const Ref short_a = b.short_of(a);
    const Ref h = b.product(t.head, b.emit(Op::Fsub, half, yy, u), half);
    const Ref of_h = b.emit(Op::Fadd, half, b.product(short_a, b.immediate(order / 2 + 0.5), half),
                            b.immediate(0.5));
    const Ref of_a = b.product(short_a, b.immediate(order * (order + 1) / 2), half);
    const Ref second =
        b.emit(Op::Fsub, half, b.product(of_a, short_a, half), b.product(h, of_h, half));
    c = b.emit(Op::Fadd, wide, c, b.emit(Op::Fadd, half, second, mean_loss(b, far_cuts)));
  }
  Ref power = y, square = u;
  for (int bits = m; bits > 0; bits /= 2) {
    if (bits % 2 == 1) power = b.product(power, square, wide);
    if (bits > 1) square = square_of(b, square, accuracy);
  }
  const double constant = half_gamma(m), head = nearest_short(constant);
  Ref limit;
  if (b.in_longs() && m > 0) {
    // With one rounding less.
    const Ref rest = b.emit(Op::Fadd, wide, b.product(c, b.immediate(constant), wide),
                            b.immediate(constant - head));
    limit = b.emit(Op::Fadd, wide, b.product(power, b.immediate(head), wide),
                   b.product(power, rest, wide));
  } else {
    // The constant factor comes last: the native engine replaces a product of y and a constant by
    // its own root, which differs from y.
    power = b.emit(Op::Fadd, wide, power, b.product(power, c, wide));
    limit = b.product(power, b.immediate(head), wide);
    if (accuracy == Width::Long)
      limit = b.emit(Op::Fadd, wide, limit,
                     b.product(power, b.immediate(nearest_short(constant - head)), wide));
  }

  const Ref inverse = b.emit(Op::Fadd, wide, u, b.product(a, u, wide));
  const auto at = static_cast<std::size_t>(m);
  const double largest = 1 / (m + near_end);
  const std::span<const double> long_terms =
      b.in_longs() ? coefficients::boys_far_double[at] : coefficients::boys_far_long[at];
  const Ref s =
      accuracy == Width::Short
          ? b.horner(inverse, largest, coefficients::boys_far_short[at], accuracy, wide)
          : b.horner(inverse, largest, long_terms, accuracy, wide, short_part_of_long / upper_part);
  const Ref before = b.product(b.product(e, inverse, wide), b.immediate(0.5), wide);
  return b.emit(Op::Fsub, wide, limit, b.product(before, s, wide));
}

struct BoysExponentials {
  Ref whole;   ///< e^-T
  Ref shared;  ///< e^(-share T)
};

/// e^-T and e^(-share T) as powers of e^(-T / 4).
BoysExponentials boys_exponentials(Builder& b, int m, const Ref& t, Width accuracy) {
  const Width wide = Width::Long;
  const Ref limited = b.emit(Op::Fmin, b.width_of(t), t, b.immediate(largest_exponent));
  const Split x = split_long(b, limited, accuracy);
  const Ref quarter = b.immediate(-0.25);
  Ref rest;
  if (x.tail.kind != Ref::Kind::None) rest = b.product(x.tail, quarter, wide);
  const Ref root = b.precise_exponential_of(b.product(x.head, quarter, wide), rest, accuracy);
  const Ref square = square_of(b, root, accuracy);
  return {square_of(b, square, accuracy), m == 0 ? root
                                          : m <= largest_of_half_share
                                              ? square
                                              : b.product(square, root, wide)};
}

/// The values of all orders up to m, each times (2k + 1) (2k + 3) ... (2m - 1) for order k, so that
/// no step of the recursion divides.
std::vector<Ref> boys_set(Builder& b, int m, const Ref& t, Width accuracy) {
  const Width wide = Width::Long;
  const auto at = static_cast<std::size_t>(m);
  const double end = m + near_end;
  const std::span<const double> c = accuracy == Width::Short ? coefficients::boys_near_short[at]
                                    : b.in_longs()           ? coefficients::boys_near_double[at]
                                                             : coefficients::boys_near_long[at];
  const auto [e, shared] = boys_exponentials(b, m, t, accuracy);
  const Split parts = split_long(b, t, accuracy);
  const Ref far = boys_far(b, m, parts, e, accuracy);
  const Ref w = b.emit(Op::Fsub, wide, t, b.immediate(end / 2));
  const double limit = accuracy == Width::Short ? 0.1 : short_part_of_long / 16;
  const Ref p = b.horner(w, end / 2, c, accuracy, wide, limit * std::abs(c[0]));
  Ref near = b.product(p, shared, wide);
  if (accuracy == Width::Long) {
    const Ref lost = mean_loss(b, m <= largest_of_half_share ? near_cuts : near_cuts + 2);
    near = b.emit(Op::Fadd, wide, near, b.product(b.short_of(near), lost, wide));
  }
  const Condition is_near = b.flag_of(Op::Fsub, t, b.immediate(end), MaskFlag::Negative);
  std::vector<Ref> made(at + 1);
  made[at] = b.where(is_near, near, far, wide);

  // The tail includes what the product with the head loses.
  const bool has_tail = accuracy == Width::Long;
  const Ref twice = b.emit(Op::Fmul, b.width_of(parts.head), parts.head, b.immediate(2));
  Ref twice_tail;
  if (has_tail) {
    const Ref lost = b.product(parts.head, mean_loss(b, 1), wide);
    const Ref tail =
        parts.tail.kind == Ref::Kind::None ? lost : b.emit(Op::Fadd, wide, parts.tail, lost);
    twice_tail = b.product(tail, b.immediate(2), wide);
  }
  // The term e^-T of each step: a short factor of `base`, which has the other factors.
  Ref base = e;
  if (accuracy == Width::Long) {
    const Ref lost = mean_loss(b, m <= largest_of_one_cut ? 1 : 2);
    base = b.emit(Op::Fadd, wide, e, b.product(b.short_of(e), lost, wide));
  }
  double factor = 1;
  for (std::size_t k = at; k > 0; --k) {
    const Ref second = factor == 1 ? base : b.product(base, b.immediate(factor), wide);
    made[k - 1] = b.emit(Op::Fadd, wide, b.product(twice, made[k], wide), second);
    if (has_tail)
      made[k - 1] =
          b.emit(Op::Fadd, wide, made[k - 1], b.product(twice_tail, b.short_of(made[k]), wide));
    const double next = 2 * static_cast<double>(k) - 1;
    if (factor * next > largest_short_integer) {
      base = second;
      factor = 1;
    }
    factor *= next;
  }
  return made;
}

Term boys_value(Builder& b, const Node& node, const Term& x, const Term&) {
  const Width width = width_for(node.type);
  std::vector<Ref>& set = b.family(node.a, node.type);
  if (set.empty()) {
    std::int64_t m = 0;
    const std::vector<Node>& nodes = b.graph().nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node& other = nodes[i];
      const bool matches = other.fn == Fn::Boys && other.a == node.a && other.type == node.type;
      if (matches && b.uses()[i] > 0) m = std::max(m, other.integer);
    }
    set = boys_set(b, static_cast<int>(m), b.plain(x, b.width_of(x.ref)), width);
  }
  double scale = 1;
  for (std::size_t k = static_cast<std::size_t>(node.integer) + 1; k < set.size(); ++k)
    scale *= 2 * static_cast<double>(k) - 1;
  const Ref& value = set[static_cast<std::size_t>(node.integer)];
  return {width == Width::Short ? b.emit(Op::Fcvt, width, value) : value, scale};
}

/// The derivative of the integral of t^(2m) exp(-x t^2) is that of order m + 1, negative.
Slope slope_of_boys(const FunctionAt& at) {
  return {at.negative(at.with.boys(front::constant_int(at.order + 1), at.x, at.ctx, at.where))};
}

/// The series of positive terms (I. Shavitt, Methods in Computational Physics 2, 1963); beyond it,
/// at large x, the upper limit of the integral may be infinite.
template <class Real>
Real boys_function(int order, const Real& x) {
  if (x > 60 + 4 * order) {
    const auto pi = static_cast<Real>(3.14159265358979323846264338327950288L);
    Real value = std::sqrt(pi / x) / 2;
    for (int m = 1; m <= order; ++m) value *= Real(2 * m - 1) / (2 * x);
    return value;
  }
  Real term = Real(1) / (2 * order + 1), sum = term;
  for (int k = 1; k < 10 || term > sum * Real(1e-22); ++k) {
    term *= 2 * x / Real(2 * order + 2 * k + 1);
    sum += term;
  }
  return std::exp(-x) * sum;
}

}  // namespace

extern constexpr Function boys{
    .name = "boys",
    .arguments = "m, T",
    .meaning =
        "Boys function: the integral of t^(2m) exp(-T t^2) from 0 to 1, for a constant m from 0 to "
        "16",
    .fn = Fn::Boys,
    .value = [](auto x, auto, int order) { return boys_function(order, x); },
    .call = [](const Call& c) { return c.with.boys(c.a[0], c.a[1], c.ctx, c.where); },
    .lower = boys_value,
    .slopes = {slope_of_boys},
    .accuracy = {"T from 0 on", "1e-14",
                 "negative T: unspecified, except for roundings of 0; inf: NaN"},
    .timed = {"boys(0, a)", "boys(8, a)", "boys(16, a)"},
};

}  // namespace gdr::kc::functions
