// The exponential function: x = n log 2 + f, a polynomial in f, and n added to its exponent.
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

#include "kernels/compiler/functions/definition.hpp"

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

namespace functions {
namespace {

/// e^x, of an argument that is limited to -700..700. In shorts 2^n 2^f with n = round(x log2 e) and
/// f in -1/2..1/2; n is added to the exponent of a polynomial in f.
Term exponential(Builder& b, const Node& node, const Term& x, const Term&) {
  const Width width = width_for(node.type);
  const Ref given = b.plain(x, b.width_of(x.ref));
  const Ref low = b.emit(Op::Fmax, b.width_of(given), given, b.immediate(-700));
  const Ref arg = b.emit(Op::Fmin, b.width_of(given), low, b.immediate(700));
  if (width == Width::Long) return {b.exponential_of(arg, {}, width)};
  const Ref scaled = b.product(arg, b.immediate(M_LOG2E), Width::Long);
  const Ref shifted = b.emit(Op::Fadd, Width::Short, scaled, b.immediate(short_ones));
  const Ref whole = b.emit(Op::Fsub, Width::Short, shifted, b.immediate(short_ones));
  const Ref f = b.emit(Op::Fsub, width, scaled, whole);
  // Shorts throughout, for loops with little memory: 2^f = e^(f log 2).
  std::vector<double> c(std::begin(coefficients::exp_short), std::end(coefficients::exp_short));
  double power = 1;
  for (double& k : c) {
    k = nearest_short(k * power);
    power *= M_LN2;
  }
  Ref p = b.immediate(c.back());
  for (std::size_t i = c.size() - 1; i-- > 0;)
    p = b.emit(Op::Fadd, width, b.emit(Op::Fmul, width, f, p), b.immediate(c[i]));
  return {
      b.emit(Op::Iadd, width, p, b.emit(Op::Ishl, width, shifted, b.bits(short_fraction_bits)))};
}

Slope slope_of_exponential(const FunctionAt& at) { return {at.f}; }

}  // namespace

extern constexpr Function exp{
    .name = "exp",
    .arguments = "x",
    .meaning = "e^x",
    .fn = Fn::Exp,
    .value = [](auto x, auto, int) { return std::exp(x); },
    .lower = exponential,
    .slopes = {slope_of_exponential},
    .accuracy = {"-700 to 700", "1e-14", "the value at -700 or 700"},
    .timed = {"exp(a)"},
};

}  // namespace functions
}  // namespace gdr::kc
