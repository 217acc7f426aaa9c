// The table of the functions of numbers. A row is in the file of its function.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "kernels/compiler/front/front.hpp"
#include "kernels/compiler/ir/function.hpp"

namespace gdr::kc {
namespace functions {

// clang-format off
extern const Function
    rsqrt, sqrt, recip, exp,
    abs, min, max,
    pow, powm32,
    round, floor, ceil, trunc,
    log, sin, cos, tan, asin, acos, atan, atan2,
    tanh, cbrt, erf, erfc, boys, to_int, to_short, to_long;

namespace {

constexpr const Function* all[] = {
    &rsqrt, &sqrt, &recip, &exp,
    &abs, &min, &max,
    &pow, &powm32,
    &round, &floor, &ceil, &trunc,
    &log, &sin, &cos, &tan, &asin, &acos, &atan, &atan2,
    &tanh, &cbrt,
    &erf, &erfc, &boys,
    &to_int, &to_short, &to_long,
};
// clang-format on

}  // namespace
}  // namespace functions

std::span<const Function* const> all_functions() noexcept { return functions::all; }

const Function* function_of(Fn fn) noexcept {
  static const auto by_operation = [] {
    std::array<const Function*, static_cast<std::size_t>(last_fn) + 1> table{};
    for (const Function* f : functions::all)
      if (f->fn != Function::no_function) table[static_cast<std::size_t>(f->fn)] = f;
    return table;
  }();
  return by_operation[static_cast<std::size_t>(fn)];
}

const Function* find_function(std::string_view name) noexcept {
  const auto* const* const found = std::ranges::find(functions::all, name, &Function::name);
  return found == std::end(functions::all) ? nullptr : *found;
}

std::vector<std::pair<std::string_view, std::size_t>> function_names() {
  std::vector<std::pair<std::string_view, std::size_t>> names;
  for (const Function* f : functions::all) names.emplace_back(f->name, f->count());
  return names;
}

}  // namespace gdr::kc
