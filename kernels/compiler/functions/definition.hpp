// What the files of functions use: the types of a row, and the forms of its operations.
#pragma once

#include <cmath>
#include <functional>

#include "kernels/compiler/front/derivative.hpp"
#include "kernels/compiler/ir/function.hpp"
#include "kernels/compiler/lower/builder.hpp"
#include "kernels/compiler/lower/math.hpp"
#include "kernels/compiler/lower/math_coefficients.hpp"

namespace gdr::kc::functions {

using front::Call;
using front::constant_number;
using front::FunctionAt;
using front::Slope;
using front::Value;
using Split = Builder::Split;

/// Operations of a function of one number from `make`, a function of (builder, x, width) or a
/// member of the builder. The argument has no factor.
template <auto make>
Term plain(Builder& b, const Node& node, const Term& x, const Term&) {
  return {std::invoke(make, b, b.plain(x, b.width_of(x.ref)), width_for(node.type))};
}
/// The same with f(-x) = -f(x): a negative factor of the argument is one of the result.
template <auto make>
Term odd(Builder& b, const Node& node, const Term& x, const Term& y) {
  return x.scale < 0 ? -plain<make>(b, node, -x, y) : plain<make>(b, node, x, y);
}
/// The same with f(-x) = f(x).
template <auto make>
Term even(Builder& b, const Node& node, const Term& x, const Term& y) {
  return plain<make>(b, node, x.scale < 0 ? -x : x, y);
}
/// Of a function of two numbers.
template <auto make>
Term of_two(Builder& b, const Node& node, const Term& x, const Term& y) {
  const Width width = width_for(node.type);
  const Ref first = b.operand(x, width);
  return {std::invoke(make, b, first, b.operand(y, width), width)};
}

}  // namespace gdr::kc::functions
