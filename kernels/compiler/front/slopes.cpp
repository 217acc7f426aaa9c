// The slopes of the functions of the language. At the few arguments where a function has a value
// but no finite slope, and where it has none (the corner of |x|), the slope is zero.
#include <algorithm>
#include <numbers>

#include "kernels/compiler/front/derivative.hpp"

namespace gdr::kc::front {
namespace {

Slope of_sqrt(const FunctionAt& at) {
  return {at.times(at.number(0.5), at.apply(Fn::Rsqrt, at.x)), at.less(at.number(0), at.x)};
}
Slope of_rsqrt(const FunctionAt& at) {
  return {at.times(at.times(at.number(-0.5), at.f), at.times(at.f, at.f))};
}
Slope of_reciprocal(const FunctionAt& at) { return {at.negative(at.times(at.f, at.f))}; }
Slope of_exp(const FunctionAt& at) { return {at.f}; }
Slope of_log(const FunctionAt& at) { return {at.apply(Fn::Reciprocal, at.x)}; }

Slope of_abs(const FunctionAt& at) {
  const Value zero = at.number(0);
  const auto choose = [&](const Value& c, double yes, const Value& no) {
    return at.with.choose(c, at.number(yes), no, at.ctx, at.where);
  };
  return {choose(at.less(at.x, zero), -1, choose(at.less(zero, at.x), 1, zero))};
}

Slope of_sin(const FunctionAt& at) { return {at.apply(Fn::Cos, at.x)}; }
Slope of_cos(const FunctionAt& at) { return {at.negative(at.apply(Fn::Sin, at.x))}; }
Slope of_tan(const FunctionAt& at) { return {at.plus(at.number(1), at.times(at.f, at.f))}; }
Slope of_tanh(const FunctionAt& at) { return {at.minus(at.number(1), at.times(at.f, at.f))}; }

/// (1 - x) (1 + x) keeps the digits of 1 - x^2 near -1 and 1.
Slope of_asin(const FunctionAt& at) {
  const Value one = at.number(1);
  const Value rest = at.times(at.minus(one, at.x), at.plus(one, at.x));
  return {at.apply(Fn::Rsqrt, rest), at.less(at.number(0), rest)};
}
Slope of_acos(const FunctionAt& at) {
  const Slope opposite = of_asin(at);
  return {at.negative(opposite.value), opposite.condition};
}

/// Of the angle of the point (y, x): x is the first argument.
Slope of_angle(const FunctionAt& at, const Value& by) {
  const Value r2 = at.plus(at.times(at.x, at.x), at.times(at.y, at.y));
  const bool never_zero =
      (at.y.constant && at.y.number != 0) || (at.x.constant && at.x.number != 0);
  return {at.over(by, r2), never_zero ? constant_bool(true) : at.less(at.number(0), r2)};
}
Slope of_atan2_by_y(const FunctionAt& at) { return of_angle(at, at.y); }
Slope of_atan2_by_x(const FunctionAt& at) { return of_angle(at, at.negative(at.x)); }

/// y x^y / x: the power is there already.
Slope of_pow_by_base(const FunctionAt& at) {
  return {at.over(at.times(at.y, at.f), at.x), at.less(at.number(0), at.x)};
}
Slope of_pow_by_exponent(const FunctionAt& at) {
  return {at.times(at.f, at.apply(Fn::Log, at.x)), at.less(at.number(0), at.x)};
}

Slope of_cbrt(const FunctionAt& at) {
  const Value cubed = at.times(at.number(3), at.times(at.f, at.f));
  return {at.apply(Fn::Reciprocal, cubed), at.is_not(at.x, at.number(0))};
}

/// exp(-x^2) times a factor.
Slope of_normal(const FunctionAt& at, double factor) {
  const Value square = at.negative(at.times(at.x, at.x));
  return {at.times(at.number(factor), at.apply(Fn::Exp, square))};
}
constexpr double two_over_root_pi = 2 * std::numbers::inv_sqrtpi;
Slope of_erf(const FunctionAt& at) { return of_normal(at, two_over_root_pi); }
Slope of_erfc(const FunctionAt& at) { return of_normal(at, -two_over_root_pi); }

/// The derivative of the integral of t^(2m) exp(-x t^2) is that of order m + 1, negative.
Slope of_boys(const FunctionAt& at) {
  return {at.negative(at.with.boys(constant_int(at.order + 1), at.x, at.ctx, at.where))};
}

constexpr SlopeRule rules[] = {
    {Fn::Abs, of_abs},     {Fn::Sqrt, of_sqrt},
    {Fn::Rsqrt, of_rsqrt}, {Fn::Reciprocal, of_reciprocal},
    {Fn::Exp, of_exp},     {Fn::Log, of_log},
    {Fn::Sin, of_sin},     {Fn::Cos, of_cos},
    {Fn::Tan, of_tan},     {Fn::Asin, of_asin},
    {Fn::Acos, of_acos},   {Fn::Atan2, of_atan2_by_y, of_atan2_by_x},
    {Fn::Tanh, of_tanh},   {Fn::Pow, of_pow_by_base, of_pow_by_exponent},
    {Fn::Cbrt, of_cbrt},   {Fn::Erf, of_erf},
    {Fn::Erfc, of_erfc},   {Fn::Boys, of_boys},
};

}  // namespace

const SlopeRule* find_slope_rule(Fn fn) noexcept {
  const auto* const found = std::ranges::find(rules, fn, &SlopeRule::fn);
  return found == std::end(rules) ? nullptr : found;
}

}  // namespace gdr::kc::front
