// A function of the kernel language: what the compiler, its tests and the documentation know of it.
// The functions are in kernels/compiler/functions, one file each.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "kernels/compiler/ir/graph.hpp"

namespace gdr::kc {

class Builder;
struct Term;
namespace front {
struct Call;
struct FunctionAt;
struct Slope;
struct Value;
}  // namespace front

/// The value f(x), f(x, y) or, of a family of functions, f(order, x) in the host's numbers: made of
/// a generic function of (x, y, order).
struct HostValue {
  using OfDoubles = double (*)(double x, double y, int order);
  using OfLongDoubles = long double (*)(long double x, long double y, int order);
  OfDoubles of_doubles = nullptr;
  OfLongDoubles of_long_doubles = nullptr;

  constexpr HostValue() = default;
  template <class F>
  constexpr HostValue(F f) : of_doubles(f), of_long_doubles(f) {}  // NOLINT(*-explicit-*)

  double operator()(double x, double y, int order) const { return of_doubles(x, y, order); }
  long double operator()(long double x, long double y, int order) const {
    return of_long_doubles(x, y, order);
  }
};

/// What the reference page says of accuracy.
struct Accuracy {
  std::string_view range;     ///< arguments for which the errors hold
  std::string_view in_longs;  ///< largest error in longs
  std::string_view elsewhere = {};
};

/// One function. Parts that are missing are null: of a function without an operation of its own
/// (`ceil`) all but `call`; `slopes` where the derivative is zero everywhere.
struct Function {
  std::string_view name;       ///< name in the language
  std::string_view arguments;  ///< names of the documentation: `y, x`
  std::string_view meaning;
  Fn fn = no_function;  ///< operation of the graph
  HostValue value = {};
  /// What a call becomes in the graph; null: a node of `fn` that is rounded to its context.
  front::Value (*call)(const front::Call& call) = nullptr;
  /// Operations on the machine.
  Term (*lower)(Builder& b, const Node& node, const Term& x, const Term& y) = nullptr;
  /// Derivatives by each argument.
  std::array<front::Slope (*)(const front::FunctionAt& at), 2> slopes = {};
  Accuracy accuracy = {};
  /// Calls whose clocks the reference page states: those of the arguments a and b.
  std::array<std::string_view, 3> timed = {};

  static constexpr Fn no_function = Fn::Constant;
  /// The number of arguments.
  constexpr std::size_t count() const noexcept {
    std::size_t n = 1;
    for (const char c : arguments) n += c == ',' ? 1 : 0;
    return n;
  }
};

/// All functions of numbers, in the order of the documentation.
std::span<const Function* const> all_functions() noexcept;
/// The function of an operation of the graph; null for operators.
const Function* function_of(Fn fn) noexcept;
/// The function with this name; null if there is none.
const Function* find_function(std::string_view name) noexcept;

}  // namespace gdr::kc
