// The error function and its complement.
#include <cmath>
#include <limits>
#include <span>

#include "kernels/compiler/lower/builder.hpp"
#include "kernels/compiler/lower/math.hpp"
#include "kernels/compiler/lower/math_coefficients.hpp"

namespace gdr::kc {
namespace {

constexpr double erfc_step = 0.328125;  // t = 1 / (1 + 0.328125 |x|)
constexpr double erfc_end = 26.6;       // erfc is zero in numbers of the machine from here on

}  // namespace
/// In shorts a polynomial in x^2 times x, limited to 4, where erf is 1. In longs x times a
/// polynomial in x^2 up to 1, and beyond 1 - e^p with a polynomial p in |x|, limited to 6.
Ref Builder::error_function(const Ref& x, Width width) {
  const double end = width == Width::Short ? 4 : 6;
  const Width given = width_of(x);
  const Ref limited =
      emit(Op::Fmin, given, emit(Op::Fmax, given, x, immediate(-end)), immediate(end));
  if (width == Width::Short) {
    const Ref w = emit(Op::Fsub, Width::Long, product(limited, limited, Width::Long), immediate(8));
    return product(limited, horner(w, 8, coefficients::erf_short, width, Width::Long, 0.2), width);
  }
  const Ref magnitude = absolute(limited);
  const Condition large = flag_of(Op::Fsub, immediate(1), magnitude, MaskFlag::Negative);
  const Ref z = product(limited, limited, Width::Long);
  const Ref small =
      product(limited, horner(z, 1, coefficients::erf_small, width, width), Width::Long);
  const Ref v = emit(Op::Fsub, Width::Long, magnitude, immediate(3));
  const Ref complement =
      exponential_of(horner(v, 3, coefficients::log_erfc, width, width), {}, width);
  const Ref value = emit(Op::Fsub, Width::Long, immediate(1), complement);
  return where(large, product(value, sign_of(x), width), small, width);
}

/// e^(-x^2) times a polynomial in t = 1 / (1 + 0.328125 |x|), which is 2 - that for a negative x.
/// The square of x is that of its first 25 bits, exactly, and a small rest.
Ref Builder::complementary_error_function(const Ref& x, Width width) {
  const bool narrow = width == Width::Short;
  const Ref end = immediate(nearest_short(erfc_end));
  const Ref magnitude = emit(Op::Fmin, width_of(x), absolute(x), end);
  // By an operation on bits, which rounds to a short on every host.
  const Ref high = emit(Op::Fmin, Width::Short, absolute(short_of(x)), end);
  const Ref square = product(high, high, Width::Long);
  Ref rest;
  if (width_of(x) == Width::Long) {
    const Ref difference = emit(Op::Fsub, Width::Long, high, magnitude);
    const Ref sum = emit(Op::Fadd, Width::Long, high, magnitude);
    rest = product(sum, difference, Width::Long);
  }
  const Ref exponent = emit(Op::Fsub, Width::Long, immediate(0), square);
  const Ref e = exponential_of(exponent, rest, width);
  const Ref scaled = product(magnitude, immediate(erfc_step), Width::Long);
  const Ref t = inverse(emit(Op::Fadd, Width::Long, scaled, immediate(1)), width);
  const Ref u = emit(Op::Fsub, Width::Long, t, immediate(0.5));
  std::span<const double> c = coefficients::erfc_long;
  if (graph_.in_longs) c = coefficients::erfc_double;
  const Ref p = narrow ? horner(u, 0.5, coefficients::erfc_short, width, Width::Long, 0.1)
                       : horner(u, 0.5, c, width, width);
  const Ref tp = product(t, p, Width::Long);
  const Ref value = product(e, tp, Width::Long);
  const Condition negative = flag_of(Op::Fsub, x, immediate(0), MaskFlag::Negative);
  return where(negative, emit(Op::Fsub, width, immediate(2), value), copy_of(value, width), width);
}

}  // namespace gdr::kc
