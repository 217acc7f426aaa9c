// Boys functions F_m(T), the integral of t^(2m) exp(-T t^2) from 0 to 1: the largest order that the
// kernel needs of a T, then downward recursion (2m - 1) F_(m-1) = 2 T F_m + e^-T, whose terms are
// positive (T. Helgaker, P. Jorgensen, J. Olsen, Molecular Electronic-Structure Theory,
// section 9.8).
#include <algorithm>
#include <cmath>

#include "kernels/compiler/lower/builder.hpp"
#include "kernels/compiler/lower/math.hpp"
#include "kernels/compiler/lower/math_coefficients.hpp"

namespace gdr::kc {
namespace {

/// Up to T = m + 8 e^(-share T) times a polynomial; from there on, this is the part of the upper
/// incomplete gamma function, at most.
constexpr double near_range = 8;
constexpr double upper_part = 0.02;
constexpr double largest_exponent = 700;

/// The share is 1/2 for these orders, 3/4 for larger ones.
constexpr int largest_of_half_share = 8;

/// Gamma(m + 1/2) / 2.
double half_gamma(int m) {
  double value = 0.88622692545275801364908374167057;  // of 1/2: sqrt(pi) / 2
  for (int k = 1; k <= m; ++k) value *= k - 0.5;
  return value;
}

}  // namespace

/// F_m for T above m + 8: Gamma(m + 1/2) / (2 T^(m + 1/2)) - e^-T S(1/T) / (2 T).
Ref Builder::boys_far(int m, const Ref& t, const Ref& e, Width accuracy) {
  const Width wide = Width::Long;
  const Ref u = inverse(t, wide);
  const Term root = rsqrt({t}, wide);
  Ref power = root.ref, square = u;
  for (int bits = m; bits > 0; bits /= 2) {
    if (bits % 2 == 1) power = product(power, square, wide);
    if (bits > 1) square = product(square, square, wide);
  }
  const Ref limit = product(power, immediate(half_gamma(m) / root.scale), wide);
  const auto at = static_cast<std::size_t>(m);
  const double largest = 1 / (m + near_range);
  const Ref s = accuracy == Width::Short
                    ? horner(u, largest, coefficients::boys_far_short[at], accuracy, wide)
                    : horner(u, largest, coefficients::boys_far_long[at], accuracy, wide,
                             short_part_of_long / upper_part);
  const Ref half = product(product(e, u, wide), immediate(0.5), wide);
  return emit(Op::Fsub, wide, limit, product(half, s, wide));
}

/// The values of all orders up to m, each times (2k + 1) (2k + 3) ... (2m - 1) for order k, so that
/// no step of the recursion divides.
std::vector<Ref> Builder::boys_set(int m, const Ref& t, Width accuracy) {
  const Width wide = Width::Long;
  const auto at = static_cast<std::size_t>(m);
  const double end = m + near_range;
  const std::span<const double> c = accuracy == Width::Short ? coefficients::boys_near_short[at]
                                                             : coefficients::boys_near_long[at];
  // e^-T and e^(-share T) as powers of e^(-T / 2) or e^(-T / 4).
  const bool half_share = m <= largest_of_half_share;
  const double part = half_share ? 0.5 : 0.25;
  const Ref limited = emit(Op::Fmin, width_of(t), t, immediate(largest_exponent));
  const Ref root = exponential_of(product(limited, immediate(-part), width_of(t)), {}, accuracy);
  const Ref square = product(root, root, wide);
  const Ref shared = half_share ? root : product(square, root, wide);
  const Ref e = half_share ? square : product(square, square, wide);
  const Ref far = boys_far(m, t, e, accuracy);
  const Ref w = emit(Op::Fsub, wide, t, immediate(end / 2));
  const double limit = accuracy == Width::Short ? 0.1 : short_part_of_long / 16;
  const Ref p = horner(w, end / 2, c, accuracy, wide, limit * std::abs(c[0]));
  const Ref near = product(p, shared, wide);
  const Condition is_near = flag_of(Op::Fsub, t, immediate(end), MaskFlag::Negative);
  std::vector<Ref> made(at + 1);
  made[at] = where(is_near, near, far, wide);
  const Ref twice = emit(Op::Fmul, width_of(t), t, immediate(2));
  double factor = 1;
  for (std::size_t k = at; k > 0; --k) {
    const Ref first = product(twice, made[k], wide);
    const Ref second = factor == 1 ? e : product(e, immediate(factor), wide);
    made[k - 1] = emit(Op::Fadd, wide, first, second);
    factor *= 2 * static_cast<double>(k) - 1;
  }
  return made;
}

Term Builder::boys(const Node& node, const Term& x, Width width) {
  std::vector<Ref>& set = boys_sets_[{node.a, node.type}];
  if (set.empty()) {
    std::int64_t m = 0;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& other = graph_.nodes[i];
      const bool same = other.fn == Fn::Boys && other.a == node.a && other.type == node.type;
      if (same && node_uses_[i] > 0) m = std::max(m, other.integer);
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
