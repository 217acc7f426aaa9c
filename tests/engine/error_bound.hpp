// Running error analysis: a kernel's graph in long doubles, with a bound of the error of an engine
// that rounds every operation to a given unit.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/compiler/ir/evaluate.hpp"
#include "support/real_functions.hpp"

namespace gdr::test {

/// Rounding properties of an engine.
struct Rounding {
  double inputs;     ///< relative error of an input
  double operation;  ///< relative error of a sum, a product, a function
};

/// A number and a bound of the error of an engine's value for it, to first order in the rounding.
struct Bounded {
  long double value = 0, error = 0;

  Bounded() = default;
  template <typename Number>
  requires std::is_arithmetic_v<Number> Bounded(Number x)
      : value(static_cast<long double>(x)) {}  // NOLINT: constants of the graph
  Bounded(long double x, long double e) : value(x), error(std::isnan(e) ? HUGE_VALL : e) {}

  /// The rounding of the following operations on this thread.
  static inline thread_local Rounding rounding{0, 0};
  /// Set by a comparison whose outcome is undecided within the errors.
  static inline thread_local bool undecided = false;

  static Bounded input(double x) {
    return {x, std::fabs(static_cast<long double>(x)) * static_cast<long double>(rounding.inputs)};
  }
  /// A rounded result; beyond the range of the machine's scaled numbers the bound is infinite.
  static Bounded rounded(long double x, long double e, int operations = 1) {
    constexpr long double largest = 1e250L;
    const long double magnitude = std::fabs(x);
    if (!(magnitude < largest) || (magnitude != 0 && magnitude < 1 / largest)) e = HUGE_VALL;
    return {x, e + operations * magnitude * static_cast<long double>(rounding.operation)};
  }
  explicit operator std::size_t() const { return static_cast<std::size_t>(value); }
  /// The smallest magnitude that the engine's value may have.
  long double least() const { return std::fabs(value) - error; }
};

inline Bounded operator-(const Bounded& a) { return {-a.value, a.error}; }
inline Bounded operator+(const Bounded& a, const Bounded& b) {
  return Bounded::rounded(a.value + b.value, a.error + b.error);
}
inline Bounded operator-(const Bounded& a, const Bounded& b) { return a + -b; }
inline Bounded operator*(const Bounded& a, const Bounded& b) {
  const long double error =
      std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error;
  return Bounded::rounded(a.value * b.value, error, 3);
}
inline Bounded operator/(const Bounded& a, const Bounded& b) {
  const long double quotient = a.value / b.value;
  if (!(b.least() > 0)) return {quotient, HUGE_VALL};
  return Bounded::rounded(quotient, (a.error + std::fabs(quotient) * b.error) / b.least(), 6);
}
inline Bounded& operator+=(Bounded& a, const Bounded& b) { return a = a + b; }

/// The sign of a difference is certain if the difference is larger than the errors.
inline void decide(const Bounded& a, const Bounded& b) {
  const long double error = a.error + b.error;
  if (error > 0 && !(std::fabs(a.value - b.value) > error)) Bounded::undecided = true;
}
inline bool operator<(const Bounded& a, const Bounded& b) {
  decide(a, b);
  return a.value < b.value;
}
inline bool operator>(const Bounded& a, const Bounded& b) { return b < a; }
inline bool operator>=(const Bounded& a, const Bounded& b) { return !(a < b); }
inline bool operator==(const Bounded& a, const Bounded& b) {
  decide(a, b);
  return a.value == b.value;
}
inline bool operator!=(const Bounded& a, const Bounded& b) { return !(a == b); }

}  // namespace gdr::test

namespace gdr::kc {

template <>
struct RealMath<test::Bounded> {
  using Bounded = test::Bounded;
  static Bounded sqrt(const Bounded& x) {
    if (x.value == 0 && x.error == 0) return x;
    const long double root = std::sqrt(x.value);
    if (!(x.value > x.error)) return {root, HUGE_VALL};
    return Bounded::rounded(root, x.error / (2 * std::sqrt(x.value - x.error)), 8);
  }
  /// The chip's is limited to 700 both ways, and the product with log2(e) has 50 bits.
  static Bounded exp(const Bounded& x) {
    const long double limited = std::clamp(x.value, -700.0L, 700.0L);
    const long double error = x.error + std::fabs(limited) * 0x1p-46L;
    if (!(error < 1)) return {std::exp(limited), HUGE_VALL};
    Bounded made{std::exp(limited), std::exp(limited) * std::expm1(error)};
    made.error += made.value * 12 * static_cast<long double>(Bounded::rounding.operation);
    return made;
  }
  static bool negative(const Bounded& x) { return std::signbit(x.value); }
  /// The largest difference at the ends of the argument's error, where the function is monotonic.
  static Bounded function(Fn fn, const Bounded& x, const Bounded& y = {}, int order = 0) {
    if (fn == Fn::Exp) return exp(x);
    if (const auto made = test::by_operations(fn, x, y)) return *made;
    const auto at = [&](long double a, long double b) {
      return RealMath<long double>::function(fn, a, b, order);
    };
    const long double value = at(x.value, y.value);
    long double error = 0;
    for (const long double dx : {-x.error, x.error})
      for (const long double dy : {-y.error, y.error})
        error = std::max(error, std::fabs(at(x.value + dx, y.value + dy) - value));
    return Bounded::rounded(value, error, 8);
  }
};

namespace evaluation {

/// Which of two near numbers is the larger does not matter: the errors do.
template <>
inline test::Bounded extreme(bool minimum, const test::Bounded& a, const test::Bounded& b) {
  const bool first = (a.value < b.value) == minimum;
  const test::Bounded& chosen = first ? a : b;
  const test::Bounded& other = first ? b : a;
  const long double error = a.error + b.error;
  const bool near = std::isinf(error) || std::fabs(a.value - b.value) <= error;
  return near ? test::Bounded{chosen.value, std::max(chosen.error, other.error)} : chosen;
}

}  // namespace evaluation
}  // namespace gdr::kc
