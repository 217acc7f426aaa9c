// Powers with the minimum number of multiplications.
#include <cmath>

#include "kernels/compiler/front/arithmetic.hpp"

namespace gdr::kc::front {
namespace {

/// Depth-first search for a star chain (every step uses the previous number) of at most `limit`
/// steps. For all exponents up to the limit a shortest addition chain is of this form.
bool extend(std::vector<int>& chain, std::vector<std::pair<int, int>>& steps, std::size_t limit,
            int n) {
  const int last = chain.back();
  if (last == n) return true;
  if (steps.size() == limit) return false;
  if (static_cast<std::int64_t>(last) << (limit - steps.size()) < n) return false;
  for (std::size_t i = chain.size(); i-- > 0;) {
    if (last + chain[i] > n) continue;
    steps.emplace_back(static_cast<int>(chain.size() - 1), static_cast<int>(i));
    chain.push_back(last + chain[i]);
    if (extend(chain, steps, limit, n)) return true;
    chain.pop_back();
    steps.pop_back();
  }
  return false;
}

}  // namespace

std::vector<std::pair<int, int>> addition_chain(int n) {
  for (std::size_t limit = 0;; ++limit) {
    std::vector<int> chain{1};
    std::vector<std::pair<int, int>> steps;
    if (extend(chain, steps, limit, n)) return steps;
  }
}

Value Arithmetic::whole_power(const Value& base, int n, Context ctx, const SourceRange& where) {
  auto& chain = chains_[n];
  if (chain.empty() && n > 1) chain = addition_chain(n);
  std::vector<Value> made{base};
  for (const auto& [a, b] : chain) {
    made.push_back(combine(TokenKind::Star, made[static_cast<std::size_t>(a)],
                           made[static_cast<std::size_t>(b)], ctx, where));
  }
  return made.back();
}

Value Arithmetic::power(const Value& base, const Value& exponent, Context ctx,
                        const SourceRange& where) {
  if (base.poison() || exponent.poison()) return {};
  const double doubled = 2 * exponent.number;
  if (!exponent.constant || exponent.kind == Kind::Bool) {
    messages_.error(Code::ConstantNeeded, where, "an exponent must be a constant", {},
                    "x^y is exp(y*l), with l = log(x) computed by the host");
    return {};
  }
  if (doubled != std::trunc(doubled) || std::fabs(exponent.number) > max_exponent) {
    messages_.error(Code::BadExponent, where,
                    "an exponent must be a multiple of 1/2 from -64 to 64");
    return {};
  }
  if (!arithmetic_operand(base, where)) return {};
  const int halves = static_cast<int>(doubled);
  if (base.constant && !(base.kind == Kind::Int && halves > 0 && halves % 2 == 0))
    return known(std::pow(base.number, exponent.number), base.wide, where);
  Value x = base;
  if (x.kind == Kind::Int && !x.constant)
    x = convert(ctx.wide ? Type::Long : Type::Short, x, where);
  x.wide = base.wide;
  if (halves == 0) return constant_int(1);
  if (halves == -2) return round1(Fn::Reciprocal, x, ctx, where);
  if (halves % 2 == 0) {
    if (halves < 0) x = round1(Fn::Reciprocal, x, ctx, where);
    return whole_power(x, std::abs(halves) / 2, ctx, where);
  }
  if (halves < 0) return whole_power(round1(Fn::Rsqrt, x, ctx, where), -halves, ctx, where);
  const Value root = round1(Fn::Sqrt, x, ctx, where);
  if (halves == 1) return root;
  return combine(TokenKind::Star, whole_power(x, halves / 2, ctx, where), root, ctx, where);
}

}  // namespace gdr::kc::front
