#include "support/mpfr_functions.hpp"

#include <mpfr.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>

namespace gdr::test {
namespace {

constexpr mpfr_prec_t precision = 160;

/// A number of MPFR that frees itself.
struct Number {
  Number() { mpfr_init2(value, precision); }
  explicit Number(double x) : Number() { mpfr_set_d(value, x, MPFR_RNDN); }
  ~Number() { mpfr_clear(value); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  mpfr_t value;
};

using Unary = int (*)(mpfr_t, mpfr_srcptr, mpfr_rnd_t);
using Binary = int (*)(mpfr_t, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

int reciprocal(mpfr_t result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  return mpfr_ui_div(result, 1, x, rounding);
}
int inverse_cube_of_root(mpfr_t result, mpfr_srcptr x, mpfr_rnd_t rounding) {
  mpfr_rec_sqrt(result, x, rounding);
  return mpfr_pow_ui(result, result, 3, rounding);
}

struct UnaryRow {
  std::string_view name;
  Unary function;
};
constexpr UnaryRow unary[] = {{"round", mpfr_rint_roundeven},
                              {"floor", mpfr_rint_floor},
                              {"trunc", mpfr_rint_trunc},
                              {"ceil", mpfr_rint_ceil},
                              {"log", mpfr_log},
                              {"exp", mpfr_exp},
                              {"sin", mpfr_sin},
                              {"cos", mpfr_cos},
                              {"tan", mpfr_tan},
                              {"asin", mpfr_asin},
                              {"acos", mpfr_acos},
                              {"atan", mpfr_atan},
                              {"tanh", mpfr_tanh},
                              {"cbrt", mpfr_cbrt},
                              {"erf", mpfr_erf},
                              {"erfc", mpfr_erfc},
                              {"sqrt", mpfr_sqrt},
                              {"rsqrt", mpfr_rec_sqrt},
                              {"abs", mpfr_abs},
                              {"recip", reciprocal},
                              {"powm32", inverse_cube_of_root}};

struct BinaryRow {
  std::string_view name;
  Binary function;
};
constexpr BinaryRow binary[] = {{"atan2", mpfr_atan2}, {"pow", mpfr_pow}};

/// The integral of t^(2m) exp(-x t^2) from 0 to 1: exp(-x) times the series of (2x)^k divided by
/// (2m + 1) (2m + 3) ... (2m + 2k + 1), which has positive terms. From 400 on the integral to
/// infinity, which differs by less than exp(-x): Gamma(m + 1/2) / (2 x^(m + 1/2)).
void boys(mpfr_t result, mpfr_srcptr x, int order) {
  Number term, twice;
  if (mpfr_cmp_ui(x, 400) > 0) {
    Number half;
    mpfr_set_d(half.value, order + 0.5, MPFR_RNDN);
    mpfr_gamma(term.value, half.value, MPFR_RNDN);
    mpfr_pow(twice.value, x, half.value, MPFR_RNDN);
    mpfr_div(result, term.value, twice.value, MPFR_RNDN);
    mpfr_div_ui(result, result, 2, MPFR_RNDN);
    return;
  }
  mpfr_mul_ui(twice.value, x, 2, MPFR_RNDN);
  mpfr_set_ui(term.value, 1, MPFR_RNDN);
  mpfr_div_ui(term.value, term.value, static_cast<unsigned long>(2 * order + 1), MPFR_RNDN);
  mpfr_set(result, term.value, MPFR_RNDN);
  for (unsigned long k = 1; k < 4000; ++k) {
    mpfr_mul(term.value, term.value, twice.value, MPFR_RNDN);
    mpfr_div_ui(term.value, term.value, static_cast<unsigned long>(2 * order + 1) + 2 * k,
                MPFR_RNDN);
    mpfr_add(result, result, term.value, MPFR_RNDN);
  }
  mpfr_neg(twice.value, x, MPFR_RNDN);
  mpfr_exp(term.value, twice.value, MPFR_RNDN);
  mpfr_mul(result, result, term.value, MPFR_RNDN);
}

/// f(x, y).
void evaluate(mpfr_t result, std::string_view name, mpfr_srcptr x, mpfr_srcptr y, int order) {
  const auto* const one = std::ranges::find(unary, name, &UnaryRow::name);
  const auto* const two = std::ranges::find(binary, name, &BinaryRow::name);
  if (name == "boys") {
    boys(result, x, order);
  } else if (one != std::end(unary)) {
    one->function(result, x, MPFR_RNDN);
  } else if (two != std::end(binary)) {
    two->function(result, x, y, MPFR_RNDN);
  } else {
    throw std::invalid_argument("no function " + std::string(name));
  }
}

}  // namespace

long double mpfr_function(std::string_view name, double x, double y, int order) {
  const Number a(x), b(y);
  Number result;
  evaluate(result.value, name, a.value, b.value, order);
  return mpfr_get_ld(result.value, MPFR_RNDN);
}

long double mpfr_derivative(std::string_view name, int argument, double x, double y, int order) {
  // A step of 2^-45 of the argument leaves errors of 2^-90 and of 2^-115 by the roundings.
  constexpr int step_exponent = 45;
  Number a(x), b(y), step(argument == 0 ? x : y), after, before;
  mpfr_t& moved = argument == 0 ? a.value : b.value;
  mpfr_div_2ui(step.value, step.value, step_exponent, MPFR_RNDN);
  mpfr_add(moved, moved, step.value, MPFR_RNDN);
  evaluate(after.value, name, a.value, b.value, order);
  mpfr_sub(moved, moved, step.value, MPFR_RNDN);
  mpfr_sub(moved, moved, step.value, MPFR_RNDN);
  evaluate(before.value, name, a.value, b.value, order);
  mpfr_sub(after.value, after.value, before.value, MPFR_RNDN);
  mpfr_div(after.value, after.value, step.value, MPFR_RNDN);
  return mpfr_get_ld(after.value, MPFR_RNDN) / 2;
}

}  // namespace gdr::test
