// Complex numbers: operations and functions on pairs of real and imaginary part.
#pragma once

#include "kernels/compiler/front/arithmetic.hpp"

namespace gdr::kc::front {

/// A real number as a complex one; a complex one as it is.
Value complex_of(const Value& x);

/// Operations on complex numbers; parts that are constant zeros and ones cost nothing.
class ComplexArithmetic {
 public:
  ComplexArithmetic(Arithmetic& with, Context ctx, const SourceRange& where)
      : with_(with), by_parts_(with, ctx, where), ctx_(ctx), where_(where) {}

  /// Add, Sub, Mul, Div; one of the operands may be real.
  Value combine(Fn fn, const Value& a, const Value& b);
  Value norm2(const Value& z);
  Value absolute(const Value& z);
  Value argument(const Value& z);
  Value conjugate(const Value& z);
  Value exponential(const Value& z);

 private:
  Value quotient(const Value& a, const Value& b);

  Arithmetic& with_;
  Components by_parts_;
  Context ctx_;
  const SourceRange& where_;
};

}  // namespace gdr::kc::front
