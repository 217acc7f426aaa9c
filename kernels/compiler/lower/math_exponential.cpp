// The exponential function, and the hyperbolic tangent.
#include <cmath>
#include <span>

#include "kernels/compiler/lower/builder.hpp"
#include "kernels/compiler/lower/math.hpp"
#include "kernels/compiler/lower/math_coefficients.hpp"

namespace gdr::kc {
namespace {

/// log 2 in two parts: n times the first, of 40 bits, is exact.
constexpr double log2_high = 0x1.62e42fefa4000p-1;
constexpr double largest_f = 0.3467;
constexpr double log2_low = -0x1.8432a1b0e2634p-43;

}  // namespace

/// x = n log 2 + f with |f| below log(2) / 2, and 2^n. `rest` is added to f if it is not none.
Builder::Octave Builder::octave_of(const Ref& x, const Ref& rest) {
  const Ref shifted =
      emit(Op::Fadd, Width::Short, times_constant(x, M_LOG2E), immediate(short_ones));
  const Ref n = emit(Op::Fsub, Width::Short, shifted, immediate(short_ones));
  const Ref first = emit(Op::Fsub, Width::Long, x, product(immediate(log2_high), n, Width::Long));
  Octave made;
  made.f = emit(Op::Fsub, Width::Long, first, product(immediate(log2_low), n, Width::Long));
  if (rest.kind != Ref::Kind::None) made.f = emit(Op::Fadd, Width::Long, made.f, rest);
  const Ref field = emit(Op::Ishl, Width::Short, shifted, bits(short_fraction_bits));
  made.power = emit(Op::Iadd, Width::Short, field, bits(bits_of_one));
  return made;
}

/// Coefficients of e^f: a double shows the error of those for longs.
std::span<const double> Builder::long_exponential() const {
  if (graph_.in_longs) return coefficients::exp_double;
  return coefficients::exp_long;
}

/// e^(x + rest) as a long, |x| up to 708. `rest` is small, or none.
Ref Builder::exponential_of(const Ref& x, const Ref& rest, Width accuracy) {
  const auto [f, power] = octave_of(x, rest);
  if (accuracy == Width::Short) {
    const Ref p = horner(f, largest_f, coefficients::exp_short, accuracy, Width::Long);
    return product(p, power, Width::Long);
  }
  // e^(high + low) = e^high (1 + low): products with a short take one multiplier pass.
  const Ref high = emit(Op::Fcvt, Width::Short, f);
  const Ref low = emit(Op::Fsub, Width::Short, f, high);
  const Ref p = horner(high, largest_f, long_exponential(), accuracy, Width::Long);
  return product(emit(Op::Fadd, Width::Long, p, product(p, low, Width::Long)), power, Width::Long);
}

/// The same without cutting e^f to 50 bits in the last product: 2^n (e^f - 1) + 2^n, for |x| below
/// 709.
Ref Builder::precise_exponential_of(const Ref& x, const Ref& rest, Width accuracy) {
  if (accuracy == Width::Short) return exponential_of(x, rest, accuracy);
  const auto [f, power] = octave_of(x, rest);
  const Ref high = emit(Op::Fcvt, Width::Short, f);
  const Ref low = emit(Op::Fsub, Width::Short, f, high);
  const std::span<const double> c = long_exponential();  // c[0] is 1
  const Ref q = horner(high, largest_f, c.subspan(1), accuracy, Width::Long);
  const Ref less = product(q, high, Width::Long);
  const Ref p = emit(Op::Fadd, Width::Short, less, immediate(1));
  const Ref excess = emit(Op::Fadd, Width::Long, less, product(low, p, Width::Long));
  return emit(Op::Fadd, Width::Long, product(excess, power, Width::Long), power);
}

/// tanh x = E / (E + 2) with E = e^(2x) - 1 = 2^n (e^f - 1) + 2^n - 1. |x| is limited to 20.
Ref Builder::hyperbolic_tangent(const Ref& x, Width width) {
  const Width wide = Width::Long;
  const Ref limited =
      emit(Op::Fmin, width_of(x), emit(Op::Fmax, width_of(x), x, immediate(-20)), immediate(20));
  const auto [f, power] = octave_of(emit(Op::Fmul, wide, limited, immediate(2)), {});
  const Ref ff = product(f, f, wide);
  const Ref p = width == Width::Short
                    ? horner(f, largest_f, coefficients::expm1_short, width, width)
                    : horner(f, largest_f, coefficients::expm1_long, width, width);
  const Ref e = emit(Op::Fadd, wide, f, product(ff, p, wide));
  const Ref less = emit(Op::Fsub, wide, power, immediate(1));
  const Ref excess = emit(Op::Fadd, wide, product(e, power, wide), less);
  return ratio(excess, emit(Op::Fadd, wide, excess, immediate(2)), width);
}

}  // namespace gdr::kc
