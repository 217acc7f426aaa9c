// The error function and its complement.
#include <limits>
#include <numbers>
#include <span>

#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc::functions {
namespace {

constexpr double erfc_step = 0.328125;  // t = 1 / (1 + 0.328125 |x|)
constexpr double erfc_end = 26.6;       // erfc is zero in numbers of the machine from here on

/// In shorts a polynomial in x^2 times x, limited to 4, where erf is 1. In longs x times a
/// polynomial in x^2 up to 1, and beyond 1 - e^p with a polynomial p in |x|, limited to 6.
Ref error_function(Builder& b, const Ref& x, Width width) {
  const double end = width == Width::Short ? 4 : 6;
  const Width given = b.width_of(x);
  const Ref limited =
      b.emit(Op::Fmin, given, b.emit(Op::Fmax, given, x, b.immediate(-end)), b.immediate(end));
  if (width == Width::Short) {
    const Ref w =
        b.emit(Op::Fsub, Width::Long, b.product(limited, limited, Width::Long), b.immediate(8));
    return b.product(limited, b.horner(w, 8, coefficients::erf_short, width, Width::Long, 0.2),
                     width);
  }
  const Ref magnitude = b.absolute(limited);
  const Condition large = b.flag_of(Op::Fsub, b.immediate(1), magnitude, MaskFlag::Negative);
  const Ref z = b.product(limited, limited, Width::Long);
  const Ref small =
      b.product(limited, b.horner(z, 1, coefficients::erf_small, width, width), Width::Long);
  const Ref v = b.emit(Op::Fsub, Width::Long, magnitude, b.immediate(3));
  const Ref complement =
      b.exponential_of(b.horner(v, 3, coefficients::log_erfc, width, width), {}, width);
  const Ref value = b.emit(Op::Fsub, Width::Long, b.immediate(1), complement);
  return b.where(large, b.product(value, b.sign_of(x), width), small, width);
}

/// e^(-x^2) times a polynomial in t = 1 / (1 + 0.328125 |x|), which is 2 - that for a negative x.
/// The square of x is that of its first 25 bits, exactly, and a small rest.
Ref complementary_error_function(Builder& b, const Ref& x, Width width) {
  const bool narrow = width == Width::Short;
  const Ref end = b.immediate(nearest_short(erfc_end));
  const Ref magnitude = b.emit(Op::Fmin, b.width_of(x), b.absolute(x), end);
  // By an operation on bits, which rounds to a short on every host.
  const Ref high = b.emit(Op::Fmin, Width::Short, b.absolute(b.short_of(x)), end);
  const Ref square = b.product(high, high, Width::Long);
  Ref rest;
  if (b.width_of(x) == Width::Long) {
    const Ref difference = b.emit(Op::Fsub, Width::Long, high, magnitude);
    const Ref sum = b.emit(Op::Fadd, Width::Long, high, magnitude);
    rest = b.product(sum, difference, Width::Long);
  }
  const Ref exponent = b.emit(Op::Fsub, Width::Long, b.immediate(0), square);
  const Ref e = b.exponential_of(exponent, rest, width);
  const Ref scaled = b.product(magnitude, b.immediate(erfc_step), Width::Long);
  const Ref t = b.inverse(b.emit(Op::Fadd, Width::Long, scaled, b.immediate(1)), width);
  const Ref u = b.emit(Op::Fsub, Width::Long, t, b.immediate(0.5));
  std::span<const double> c = coefficients::erfc_long;
  if (b.in_longs()) c = coefficients::erfc_double;
  const Ref p = narrow ? b.horner(u, 0.5, coefficients::erfc_short, width, Width::Long, 0.1)
                       : b.horner(u, 0.5, c, width, width);
  const Ref tp = b.product(t, p, Width::Long);
  const Ref value = b.product(e, tp, Width::Long);
  const Condition negative = b.flag_of(Op::Fsub, x, b.immediate(0), MaskFlag::Negative);
  return b.where(negative, b.emit(Op::Fsub, width, b.immediate(2), value), b.copy_of(value, width),
                 width);
}

/// exp(-x^2) times a factor.
Slope slope_of_normal(const FunctionAt& at, double factor) {
  const Value square = at.negative(at.times(at.x, at.x));
  return {at.times(at.number(factor), at.apply(Fn::Exp, square))};
}
constexpr double two_over_root_pi = 2 * std::numbers::inv_sqrtpi;
Slope slope_of_error_function(const FunctionAt& at) {
  return slope_of_normal(at, two_over_root_pi);
}
Slope slope_of_complement(const FunctionAt& at) { return slope_of_normal(at, -two_over_root_pi); }

}  // namespace

extern constexpr Function erf{
    .name = "erf",
    .arguments = "x",
    .meaning = "error function",
    .fn = Fn::Erf,
    .value = [](auto x, auto, int) { return std::erf(x); },
    .lower = odd<error_function>,
    .slopes = {slope_of_error_function},
    .accuracy = {"all numbers", "1e-14"},
    .timed = {"erf(a)"},
};

extern constexpr Function erfc{
    .name = "erfc",
    .arguments = "x",
    .meaning = "1 - erf(x)",
    .fn = Fn::Erfc,
    .value = [](auto x, auto, int) { return std::erfc(x); },
    .lower = plain<complementary_error_function>,
    .slopes = {slope_of_complement},
    .accuracy = {"all numbers", "1e-14"},
    .timed = {"erfc(a)"},
};

}  // namespace gdr::kc::functions
