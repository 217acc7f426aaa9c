// The hyperbolic tangent.
#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc::functions {
namespace {

constexpr double largest_tanh_f = 0.3467;  // log(2) / 2

/// tanh x = E / (E + 2) with E = e^(2x) - 1 = 2^n (e^f - 1) + 2^n - 1. |x| is limited to 20.
Ref hyperbolic_tangent(Builder& b, const Ref& x, Width width) {
  const Width wide = Width::Long;
  const Ref limited = b.emit(Op::Fmin, b.width_of(x),
                             b.emit(Op::Fmax, b.width_of(x), x, b.immediate(-20)), b.immediate(20));
  const auto [f, power] = b.octave_of(b.emit(Op::Fmul, wide, limited, b.immediate(2)), {});
  const Ref ff = b.product(f, f, wide);
  const Ref p = width == Width::Short
                    ? b.horner(f, largest_tanh_f, coefficients::expm1_short, width, width)
                    : b.horner(f, largest_tanh_f, coefficients::expm1_long, width, width);
  const Ref e = b.emit(Op::Fadd, wide, f, b.product(ff, p, wide));
  const Ref less = b.emit(Op::Fsub, wide, power, b.immediate(1));
  const Ref excess = b.emit(Op::Fadd, wide, b.product(e, power, wide), less);
  return b.ratio(excess, b.emit(Op::Fadd, wide, excess, b.immediate(2)), width);
}

Slope slope_of_hyperbolic_tangent(const FunctionAt& at) {
  return {at.minus(at.number(1), at.times(at.f, at.f))};
}

}  // namespace

extern constexpr Function tanh{
    .name = "tanh",
    .arguments = "x",
    .meaning = "hyperbolic tangent",
    .fn = Fn::Tanh,
    .value = [](auto x, auto, int) { return std::tanh(x); },
    .lower = odd<hyperbolic_tangent>,
    .slopes = {slope_of_hyperbolic_tangent},
    .accuracy = {"all numbers", "1e-14"},
    .timed = {"tanh(a)"},
};

}  // namespace gdr::kc::functions
