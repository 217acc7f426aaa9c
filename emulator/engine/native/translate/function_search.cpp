#include "emulator/engine/native/translate/function_search.hpp"

#include <cmath>
#include <span>

#include "emulator/engine/native/translate/known_functions.hpp"

namespace gdr::native {
namespace {

/// Values that may be functions of one number.
class FunctionTrials {
 public:
  struct Trial {
    std::uint32_t node;
    const KnownFunction* function;
  };
  explicit FunctionTrials(const std::vector<std::uint32_t>& results) {
    for (const std::uint32_t n : results)
      for (const KnownFunction& f : known_functions()) trials_.push_back({n, &f});
  }
  void compare(const GraphValues& values, double x) {
    std::erase_if(trials_, [&](const Trial& t) {
      if (!(std::abs(x) <= t.function->largest)) return false;
      return !values_agree(values.number(t.node), t.function->value(x), t.function->scale);
    });
  }
  bool none() const { return trials_.empty(); }
  const std::vector<Trial>& trials() const { return trials_; }

 private:
  std::vector<Trial> trials_;
};

/// Values that may be x to some power, or a constant to the power of x. Roots and reciprocals are
/// other operations.
class PowerTrials {
 public:
  struct Trial {
    std::uint32_t node;
    double constant;
    bool is_base;  ///< else an exponent
    double value(double x) const { return is_base ? std::pow(constant, x) : std::pow(x, constant); }
  };
  PowerTrials(GraphValues& values, const std::vector<std::uint32_t>& results) {
    constexpr double at = 8;
    values.evaluate_at({at});
    for (const std::uint32_t n : results) {
      const double logarithm = std::log(values.number(n));
      const double exponent = logarithm / std::log(at), base = std::exp(logarithm / at);
      const bool plain = exponent == std::nearbyint(exponent) || std::abs(exponent + 0.5) < 1e-3 ||
                         std::abs(exponent + 1) < 1e-3;
      if (!plain && std::abs(exponent) < 100) trials_.push_back({n, exponent, false});
      if (std::abs(logarithm) > 1e-3 && base < 1e6) trials_.push_back({n, base, true});
    }
  }
  void compare(const GraphValues& values, double x) {
    std::erase_if(trials_, [&](const Trial& t) {
      const double value = values.number(t.node);
      if (x <= 0 && !t.is_base) return x < 0 && !std::isnan(value);
      return !values_agree(value, t.value(x), 0);
    });
  }
  bool none() const { return trials_.empty(); }
  const std::vector<Trial>& trials() const { return trials_; }

 private:
  std::vector<Trial> trials_;
};

}  // namespace

void find_functions(GraphValues& values, Ref x, bool only_powers, FunctionsByNode& found) {
  std::vector<std::uint32_t> results = values.results();
  std::erase_if(results, [&](std::uint32_t n) { return found[n].has_value(); });
  if (results.empty()) return;
  const std::vector<std::uint32_t> none;
  FunctionTrials functions(only_powers ? none : results);
  PowerTrials powers(values, only_powers ? results : none);
  const auto compare = [&](std::span<const double> arguments) {
    for (const double argument : arguments) {
      values.evaluate_at({argument});
      functions.compare(values, argument);
      powers.compare(values, argument);
      if (functions.none() && powers.none()) return;
    }
  };
  compare(few_arguments());
  compare(many_arguments());
  for (const auto& [node, function] : functions.trials())
    found[node] = RecognisedFunction{function->op, function->detail, x, no_ref, 0};
  for (const auto& [node, constant, is_base] : powers.trials())
    if (!found[node])
      found[node] = RecognisedFunction{NodeOp::Function, code_of(Function::Power),
                                       is_base ? no_ref : x, is_base ? x : no_ref, constant};
}

void find_functions_of_two(GraphValues& values, Ref x, Ref y, FunctionsByNode& found) {
  struct Trial {
    std::uint32_t node;
    Function f;
  };
  std::vector<Trial> trials;
  for (const std::uint32_t n : values.results())
    for (const Function f : {Function::Power, Function::Atan2})
      if (!found[n]) trials.push_back({n, f});
  const auto compare = [&](double a, double b) {
    values.evaluate_at({a, b});
    std::erase_if(trials, [&](const Trial& t) {
      const bool power = t.f == Function::Power;
      if (power && a < 0) return !std::isnan(values.number(t.node));
      return !values_agree(values.number(t.node), power ? std::pow(a, b) : std::atan2(a, b), 0);
    });
    return !trials.empty();
  };
  for (const double b : {1.375, -0.6875, 20.5, -3.25})
    for (const double a : {1.3125, 0.40625, 19.75, 1.75e-3, 3.5e9, -2.5})
      if (!compare(a, b)) return;
  for (const Trial& t : trials)
    found[t.node] = RecognisedFunction{NodeOp::Function, code_of(t.f), x, y, 0};
}

}  // namespace gdr::native
