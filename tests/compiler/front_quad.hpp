// Numbers of 113 bits for the evaluation of graphs: twice what a long of the machine has to show.
#pragma once

#include <cmath>

#include "kernels/compiler/ir/evaluate.hpp"
#include "support/real_functions.hpp"

namespace gdr::test {

__extension__ typedef __float128 Quad;

}  // namespace gdr::test

namespace gdr::kc {

template <>
struct RealMath<test::Quad> {
  using Quad = test::Quad;

  /// Newton steps from a long double: 64 bits, 128 bits. Zeros, infinities and NaN as they are.
  static Quad sqrt(const Quad& x) {
    const auto start = static_cast<Quad>(std::sqrt(static_cast<long double>(x)));
    if (!(start > 0) || std::isinf(static_cast<long double>(x))) return start;
    const Quad once = (start + x / start) / 2;
    return (once + x / once) / 2;
  }

  /// e^x = (e^(x/2^k))^(2^k), with x/2^k < 2^-10 in a Taylor series.
  static Quad exp(const Quad& x) {
    const auto rough = static_cast<long double>(x);
    if (!(std::fabs(rough) < 11000)) return static_cast<Quad>(std::exp(rough));
    if (x < 0) return 1 / exp(-x);  // what is near -1 below would lose digits
    int halvings = 0;
    Quad r = x;
    for (; r > Quad(1) / 1024; ++halvings) r /= 2;
    // expm1 by series; (1 + y)^2 - 1 = y (2 + y) keeps its precision while doubling.
    Quad term = r, sum = r;
    for (int i = 2; i < 14; ++i) {
      term *= r / i;
      sum += term;
    }
    for (; halvings > 0; --halvings) sum *= 2 + sum;
    return 1 + sum;
  }

  static bool negative(const Quad& x) { return std::signbit(static_cast<long double>(x)); }

  /// Operations in all bits, other functions with the 64 bits of a long double.
  static Quad function(Fn fn, const Quad& x, const Quad& y = 0, int order = 0) {
    if (fn == Fn::Exp) return exp(x);
    if (const auto made = test::by_operations(fn, x, y)) return *made;
    return RealMath<long double>::function(fn, static_cast<long double>(x),
                                           static_cast<long double>(y), order);
  }
};

}  // namespace gdr::kc
