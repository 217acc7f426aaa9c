// Boys functions F_m(T), the integral of t^(2m) exp(-T t^2) from 0 to 1: the largest order that the
// kernel needs of a T, then downward recursion (2m - 1) F_(m-1) = 2 T F_m + e^-T, whose terms are
// positive (T. Helgaker, P. Jorgensen, J. Olsen, Molecular Electronic-Structure Theory,
// section 9.8).
//
// F_m(T) amplifies a relative error of T by up to m + 1/2, and the multiplier cuts a long factor to
// 50 bits. So longs are processed with T as the sum of a short, by which products are exact, and a
// small rest.
#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/compiler/lower/builder.hpp"
#include "kernels/compiler/lower/math.hpp"
#include "kernels/compiler/lower/math_coefficients.hpp"

namespace gdr::kc {
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

}  // namespace

/// A long as a short and a rest, if `accuracy` is that of a long.
Builder::Split Builder::split_long(const Ref& x, Width accuracy) {
  return accuracy == Width::Long && width_of(x) == Width::Long ? split(x) : Split{x, {}};
}

/// x^2 in as many multiplier passes as a product of longs takes, but without cutting x:
/// head^2 + (x + head) tail.
Ref Builder::square_of(const Ref& x, Width accuracy) {
  if (accuracy == Width::Short) return product(x, x, Width::Long);
  const Ref head = head_of(x);
  const Ref tail = emit(Op::Fsub, Width::Short, x, head);
  const Ref rest = product(emit(Op::Fadd, Width::Long, x, head), tail, Width::Long);
  return emit(Op::Fadd, Width::Long, product(head, head, Width::Long), rest);
}

/// The part of a number that is lost on average if `cuts` long factors are cut: 2^-50 / log 4 each
/// on the chip, whose multiplier cuts them to 50 bits, and nothing on hosts that do not.
Ref Builder::mean_loss(double cuts) {
  const Ref x = immediate(1 + 3 * 0x1p-52);
  const Ref one = emit(Op::Fsub, Width::Short, x, emit(Op::Fmul, Width::Long, x, immediate(1)));
  return product(one, immediate(cuts), Width::Short);
}

/// F_m for T above m + 8: Gamma(m + 1/2) / (2 T^(m + 1/2)) - e^-T S(1/T) / (2 T).
///
/// With a short u near 1 / T and a short y near its root, T^-(m + 1/2) is u^m y (1 + c), where c
/// follows from a = 1 - T u and a - h = 1 - T y^2 by Taylor's series.
Ref Builder::boys_far(int m, const Split& t, const Ref& e, Width accuracy) {
  const Width half = Width::Short, wide = Width::Long;
  const Term seed = rsqrt({t.head}, half);
  const Ref y = emit(Op::Fmul, half, seed.ref, immediate(nearest_short(1 / seed.scale)));
  const Ref yy = product(y, y, wide);
  const Ref u = head_of(yy);
  Ref a = emit(Op::Fsub, wide, immediate(1), product(t.head, u, wide));
  if (t.tail.kind != Ref::Kind::None) a = emit(Op::Fsub, wide, a, product(t.tail, u, wide));
  const double order = m + 0.5;
  Ref c = product(a, immediate(order), accuracy);
  if (accuracy == Width::Long) {
    const Ref short_a = short_of(a);
    const Ref h = product(t.head, emit(Op::Fsub, half, yy, u), half);
    const Ref of_h =
        emit(Op::Fadd, half, product(short_a, immediate(order / 2 + 0.5), half), immediate(0.5));
    const Ref of_a = product(short_a, immediate(order * (order + 1) / 2), half);
    const Ref second = emit(Op::Fsub, half, product(of_a, short_a, half), product(h, of_h, half));
    c = emit(Op::Fadd, wide, c, emit(Op::Fadd, half, second, mean_loss(far_cuts)));
  }
  Ref power = y, square = u;
  for (int bits = m; bits > 0; bits /= 2) {
    if (bits % 2 == 1) power = product(power, square, wide);
    if (bits > 1) square = square_of(square, accuracy);
  }
  const double constant = half_gamma(m), head = nearest_short(constant);
  Ref limit;
  if (graph_.in_longs && m > 0) {
    // With one rounding less.
    const Ref rest =
        emit(Op::Fadd, wide, product(c, immediate(constant), wide), immediate(constant - head));
    limit = emit(Op::Fadd, wide, product(power, immediate(head), wide), product(power, rest, wide));
  } else {
    // The constant factor comes last: the native engine replaces a product of y and a constant by
    // its own root, which differs from y.
    power = emit(Op::Fadd, wide, power, product(power, c, wide));
    limit = product(power, immediate(head), wide);
    if (accuracy == Width::Long)
      limit = emit(Op::Fadd, wide, limit,
                   product(power, immediate(nearest_short(constant - head)), wide));
  }

  const Ref inverse = emit(Op::Fadd, wide, u, product(a, u, wide));
  const auto at = static_cast<std::size_t>(m);
  const double largest = 1 / (m + near_end);
  const std::span<const double> long_terms =
      graph_.in_longs ? coefficients::boys_far_double[at] : coefficients::boys_far_long[at];
  const Ref s =
      accuracy == Width::Short
          ? horner(inverse, largest, coefficients::boys_far_short[at], accuracy, wide)
          : horner(inverse, largest, long_terms, accuracy, wide, short_part_of_long / upper_part);
  const Ref before = product(product(e, inverse, wide), immediate(0.5), wide);
  return emit(Op::Fsub, wide, limit, product(before, s, wide));
}

/// e^-T and e^(-share T) as powers of e^(-T / 4).
Builder::BoysExponentials Builder::boys_exponentials(int m, const Ref& t, Width accuracy) {
  const Width wide = Width::Long;
  const Ref limited = emit(Op::Fmin, width_of(t), t, immediate(largest_exponent));
  const Split x = split_long(limited, accuracy);
  const Ref quarter = immediate(-0.25);
  Ref rest;
  if (x.tail.kind != Ref::Kind::None) rest = product(x.tail, quarter, wide);
  const Ref root = precise_exponential_of(product(x.head, quarter, wide), rest, accuracy);
  const Ref square = square_of(root, accuracy);
  return {square_of(square, accuracy), m == 0                       ? root
                                       : m <= largest_of_half_share ? square
                                                                    : product(square, root, wide)};
}

/// The values of all orders up to m, each times (2k + 1) (2k + 3) ... (2m - 1) for order k, so that
/// no step of the recursion divides.
std::vector<Ref> Builder::boys_set(int m, const Ref& t, Width accuracy) {
  const Width wide = Width::Long;
  const auto at = static_cast<std::size_t>(m);
  const double end = m + near_end;
  const std::span<const double> c = accuracy == Width::Short ? coefficients::boys_near_short[at]
                                    : graph_.in_longs        ? coefficients::boys_near_double[at]
                                                             : coefficients::boys_near_long[at];
  const auto [e, shared] = boys_exponentials(m, t, accuracy);
  const Split parts = split_long(t, accuracy);
  const Ref far = boys_far(m, parts, e, accuracy);
  const Ref w = emit(Op::Fsub, wide, t, immediate(end / 2));
  const double limit = accuracy == Width::Short ? 0.1 : short_part_of_long / 16;
  const Ref p = horner(w, end / 2, c, accuracy, wide, limit * std::abs(c[0]));
  Ref near = product(p, shared, wide);
  if (accuracy == Width::Long) {
    const Ref lost = mean_loss(m <= largest_of_half_share ? near_cuts : near_cuts + 2);
    near = emit(Op::Fadd, wide, near, product(short_of(near), lost, wide));
  }
  const Condition is_near = flag_of(Op::Fsub, t, immediate(end), MaskFlag::Negative);
  std::vector<Ref> made(at + 1);
  made[at] = where(is_near, near, far, wide);

  // The tail includes what the product with the head loses.
  const bool has_tail = accuracy == Width::Long;
  const Ref twice = emit(Op::Fmul, width_of(parts.head), parts.head, immediate(2));
  Ref twice_tail;
  if (has_tail) {
    const Ref lost = product(parts.head, mean_loss(1), wide);
    const Ref tail =
        parts.tail.kind == Ref::Kind::None ? lost : emit(Op::Fadd, wide, parts.tail, lost);
    twice_tail = product(tail, immediate(2), wide);
  }
  // The term e^-T of each step: a short factor of `base`, which has the other factors.
  Ref base = e;
  if (accuracy == Width::Long) {
    const Ref lost = mean_loss(m <= largest_of_one_cut ? 1 : 2);
    base = emit(Op::Fadd, wide, e, product(short_of(e), lost, wide));
  }
  double factor = 1;
  for (std::size_t k = at; k > 0; --k) {
    const Ref second = factor == 1 ? base : product(base, immediate(factor), wide);
    made[k - 1] = emit(Op::Fadd, wide, product(twice, made[k], wide), second);
    if (has_tail)
      made[k - 1] = emit(Op::Fadd, wide, made[k - 1], product(twice_tail, short_of(made[k]), wide));
    const double next = 2 * static_cast<double>(k) - 1;
    if (factor * next > largest_short_integer) {
      base = second;
      factor = 1;
    }
    factor *= next;
  }
  return made;
}

Term Builder::boys(const Node& node, const Term& x, Width width) {
  std::vector<Ref>& set = boys_sets_[{node.a, node.type}];
  if (set.empty()) {
    std::int64_t m = 0;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& other = graph_.nodes[i];
      const bool matches = other.fn == Fn::Boys && other.a == node.a && other.type == node.type;
      if (matches && node_uses_[i] > 0) m = std::max(m, other.integer);
    }
    set = boys_set(static_cast<int>(m), plain(x, width_of(x.ref)), width);
  }
  double scale = 1;
  for (std::size_t k = static_cast<std::size_t>(node.integer) + 1; k < set.size(); ++k)
    scale *= 2 * static_cast<double>(k) - 1;
  const Ref& value = set[static_cast<std::size_t>(node.integer)];
  return {width == Width::Short ? emit(Op::Fcvt, width, value) : value, scale};
}

}  // namespace gdr::kc
