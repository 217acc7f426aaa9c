// The natural logarithm: x = 2^n m with m from 2^-1/2 to 2^1/2, log x = n log 2 + log m.
#include <limits>
#include <vector>

#include "kernels/compiler/functions/definition.hpp"

namespace gdr::kc {
namespace {

/// The bits of 2^-1/2 as a short.
constexpr std::uint64_t root_half =
    ((exponent_bias - 1) << short_fraction_bits) | root_half_fraction;
constexpr std::uint64_t field_of_n = 1022;
constexpr double largest_difference = 0.4143;  // |m - 1|
constexpr double log2_value = 0.693147180559945309417232121458;

}  // namespace

/// A number's exponent and mantissa: n as a number, m, and where x is a positive number that is not
/// infinite.
Builder::Parts Builder::parts_of(const Ref& x) {
  Parts parts;
  parts.shifted = emit(Op::Isub, Width::Short, x, bits(root_half_fraction));
  // Zero, negative numbers, infinities and NaN have larger bits than all others.
  const Ref infinity = bits((std::uint64_t{2047} << short_fraction_bits) - root_half_fraction);
  parts.valid = flag_of(Op::Isub, emit(Op::Umin, Width::Short, parts.shifted, infinity), infinity,
                        MaskFlag::Zero);
  parts.valid.value = false;
  const Ref field = emit(Op::Ishr, Width::Short, parts.shifted, bits(short_fraction_bits));
  // As the last bits of 2^24.
  const Ref sum = emit(Op::Ior, Width::Short, field,
                       bits((exponent_bias + short_fraction_bits) << short_fraction_bits));
  parts.n = emit(Op::Fsub, Width::Short, sum, immediate(16777216.0 + field_of_n));
  return parts;
}

/// log x where x is zero (-inf), +inf (+inf), negative or NaN (NaN).
Ref Builder::special_logarithm(const Ref& x, Width width) {
  const Ref large = immediate(0x1p1023);
  const Ref sign = product(product(x, large, Width::Short), large, Width::Short);
  // The minimum also keeps hosts from adding infinity to the product before that is infinite.
  const Ref negative = emit(Op::Fmin, Width::Short, sign, immediate(0));
  const Ref infinite =
      emit(Op::Fadd, Width::Short, negative, immediate(std::numeric_limits<double>::infinity()));
  return append_op({.op = Op::Fmul,
                    .width = width,
                    .in = {infinite, emit(Op::Fsub, Width::Short, x, immediate(1))},
                    .where = where_});
}

Ref Builder::logarithm(const Ref& x, Width width) {
  const Ref narrow = short_of(x);
  const Parts parts = parts_of(narrow);
  Ref made;
  if (width == Width::Short && width_of(x) == Width::Short) {
    const Ref fraction = emit(Op::Iand, Width::Short, parts.shifted, bits(short_fraction));
    const Ref m = emit(Op::Iadd, Width::Short, fraction, bits(root_half));
    const Ref f = emit(Op::Fsub, Width::Short, m, immediate(1));
    const Ref ff = product(f, f, Width::Long);
    const Ref p =
        horner(f, largest_difference, coefficients::log_short, Width::Short, Width::Short);
    const Ref n_log2 = product(immediate(log2_value), parts.n, Width::Long);
    const Ref main = emit(Op::Fadd, Width::Long, n_log2, f);
    made = emit(Op::Fadd, width, main, product(ff, p, Width::Long));
    return where(parts.valid, made, special_logarithm(narrow, width), width);
  }
  // F = 2 (m - 1), exact but for the last bits of x: x - 2^n, and 2^(1-n).
  const Ref field =
      emit(Op::Iand, Width::Short, parts.shifted, bits(~short_fraction & Short::mask));
  const Ref power = emit(Op::Iadd, Width::Short, field, bits(exponent_step));
  const Ref inverse = emit(Op::Isub, Width::Short,
                           bits((field_of_n + exponent_bias + 1) << short_fraction_bits), field);
  const Ref twice_f = product(emit(Op::Fsub, Width::Long, x, power), inverse, Width::Long);
  const Ref n_log2 = product(immediate(2 * log2_value), parts.n, Width::Long);
  const Ref main = emit(Op::Fadd, Width::Long, n_log2, twice_f);
  // With s = f / (2 + f) and the odd part R(s) of log((1+s)/(1-s)) / s - 2:
  // log(1 + f) = f - s (f - R).
  const Ref s = quotient(twice_f, emit(Op::Fadd, Width::Long, twice_f, immediate(4)));
  const Ref z = product(s, s, Width::Long);
  std::vector<double> c(std::begin(coefficients::log_long), std::end(coefficients::log_long));
  for (double& k : c) k *= 2;
  const Ref twice_r = product(z, horner(z, 0.0295, c, Width::Long, Width::Long), Width::Long);
  const Ref rest = product(s, emit(Op::Fsub, Width::Long, twice_f, twice_r), Width::Long);
  const Ref twice = emit(Op::Fsub, Width::Long, main, rest);
  made = emit(Op::Fmul, width, twice, immediate(0.5));
  return where(parts.valid, made, special_logarithm(narrow, width), width);
}

namespace functions {
namespace {

Slope slope_of_logarithm(const FunctionAt& at) { return {at.apply(Fn::Reciprocal, at.x)}; }

}  // namespace

extern constexpr Function log{
    .name = "log",
    .arguments = "x",
    .meaning = "natural logarithm",
    .fn = Fn::Log,
    .value = [](auto x, auto, int) { return std::log(x); },
    .lower = plain<&Builder::logarithm>,
    .slopes = {slope_of_logarithm},
    .accuracy = {"1e-290 to 1.2e308; of a short all positive numbers", "1e-14, absolute near 1",
                 "0: -inf; inf: inf; negative: NaN"},
    .timed = {"log(a)"},
};

}  // namespace functions
}  // namespace gdr::kc
