// Complex numbers: operations and functions on pairs of real and imaginary part.
#include "kernels/compiler/front/complex.hpp"

#include <utility>

namespace gdr::kc::front {
namespace {

Value pair(Value re, Value im) {
  return value_of_parts(Shape::Complex, {std::move(re), std::move(im)});
}

/// The parts of a complex number or of a real one.
std::pair<Value, Value> parts_of(const Value& z) {
  return z.has_parts() ? std::pair(z.parts[0], z.parts[1]) : std::pair(z, constant_int(0));
}

}  // namespace

Value complex_of(const Value& x) { return x.has_parts() ? x : pair(x, constant_int(0)); }

Value ComplexArithmetic::norm2(const Value& z) { return by_parts_.dot(z.parts, z.parts); }

Value ComplexArithmetic::absolute(const Value& z) {
  return with_.round1(Fn::Sqrt, norm2(z), ctx_, where_);
}

Value ComplexArithmetic::argument(const Value& z) {
  return with_.round2(Fn::Atan2, z.parts[1], z.parts[0], ctx_, where_);
}

Value ComplexArithmetic::conjugate(const Value& z) {
  return pair(z.parts[0], with_.negate(z.parts[1], where_));
}

Value ComplexArithmetic::exponential(const Value& z) {
  const Value size = with_.round1(Fn::Exp, z.parts[0], ctx_, where_);
  const Value& angle = z.parts[1];
  return pair(by_parts_.product(size, with_.round1(Fn::Cos, angle, ctx_, where_)),
              by_parts_.product(size, with_.round1(Fn::Sin, angle, ctx_, where_)));
}

Value ComplexArithmetic::combine(Fn fn, const Value& a, const Value& b) {
  const auto [x, y] = parts_of(a);
  const auto [u, v] = parts_of(b);
  switch (fn) {
    case Fn::Add:
      return pair(by_parts_.sum(x, u), by_parts_.sum(y, v));
    case Fn::Sub:
      return pair(by_parts_.difference(x, u), by_parts_.difference(y, v));
    case Fn::Mul:
      return pair(by_parts_.difference(by_parts_.product(x, u), by_parts_.product(y, v)),
                  by_parts_.sum(by_parts_.product(x, v), by_parts_.product(y, u)));
    default:
      return quotient(a, b);
  }
}

/// a conj(b) / |b|^2; by a real number part by part.
Value ComplexArithmetic::quotient(const Value& a, const Value& b) {
  const bool real = !b.has_parts() || is_constant(b.parts[1], 0);
  const Value above = real ? complex_of(a) : combine(Fn::Mul, a, conjugate(b));
  const Value below = !b.has_parts() ? b : real ? b.parts[0] : norm2(b);
  std::vector<Value> made;
  for (const Value& part : above.parts)
    made.push_back(is_constant(part, 0) ? part : with_.combine(Fn::Div, part, below, ctx_, where_));
  return value_of_parts(Shape::Complex, std::move(made));
}

}  // namespace gdr::kc::front
