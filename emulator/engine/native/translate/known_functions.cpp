#include "emulator/engine/native/translate/known_functions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gdr::native {
namespace {

double log_of(double x) { return x > 0 ? std::log(x) : NAN; }
double asin_of(double x) { return std::asin(std::clamp(x, -1.0, 1.0)); }
double acos_of(double x) { return std::acos(std::clamp(x, -1.0, 1.0)); }

constexpr double everywhere = 1e300;
const KnownFunction function_table[] = {
    {NodeOp::Function, code_of(Function::Exp), std::exp, everywhere, 0},
    {NodeOp::Function, code_of(Function::Log), log_of, everywhere, 1},
    {NodeOp::Function, code_of(Function::Sin), std::sin, 1e5, 1},
    {NodeOp::Function, code_of(Function::Cos), std::cos, 1e5, 1},
    {NodeOp::Function, code_of(Function::Tanh), std::tanh, everywhere, 0},
    {NodeOp::Function, code_of(Function::Erf), std::erf, everywhere, 0},
    {NodeOp::Function, code_of(Function::Erfc), std::erfc, everywhere, 0},
    {NodeOp::Function, code_of(Function::Tan), std::tan, 1e4, 1},
    {NodeOp::Function, code_of(Function::Asin), asin_of, everywhere, 0},
    {NodeOp::Function, code_of(Function::Acos), acos_of, everywhere, 1},
    {NodeOp::Function, code_of(Function::Atan), std::atan, everywhere, 0},
    {NodeOp::Function, code_of(Function::Cbrt), std::cbrt, everywhere, 0},
    {NodeOp::Truncate, code_of(Towards::Nearest), std::nearbyint, 4e6, 0},
    {NodeOp::Truncate, code_of(Towards::Down), std::floor, 4e6, 0},
    {NodeOp::Truncate, code_of(Towards::Zero), std::trunc, 4e6, 0},
};

constexpr double first_arguments[] = {0.3125, 1.6875, -0.8125, 5.25, -2.1875, 0.046875};
std::vector<double> all_arguments() {
  std::vector<double> list{0,      0.25,  1e-7,   1e-4, 7e-3,      100.3,
                           333.25, 640.7, 1234.6, 7e4,  1e6 + 0.25};
  for (int k = 0; k < 60; ++k) list.push_back(0.0371 + k * 0.4173);
  for (const double power : {-250.0, -120.0, -60.0, -20.0, 9.0, 18.0, 60.0, 120.0, 250.0})
    list.push_back(1.37 * std::pow(10, power));
  // Shorts, since programs that compute in shorts round their arguments.
  for (double& x : list) x = std::bit_cast<double>(round_to_short(std::bit_cast<std::uint64_t>(x)));
  const std::size_t positive = list.size();
  for (std::size_t k = 1; k < positive; ++k) list.push_back(-list[k]);
  return list;
}

}  // namespace

std::span<const KnownFunction> known_functions() { return function_table; }

bool values_agree(double value, double right, double scale) {
  constexpr double error = 3e-6, large = 1e290;
  if (std::isnan(right)) return !std::isfinite(value);
  if (std::abs(right) > large) return !(std::abs(value) < large / 1e10);
  const double size = std::max(std::abs(right), scale);
  if (size < 1 / large) return std::abs(value) < 1e10 / large;
  return std::abs(value - right) <= error * size;
}

std::span<const double> few_arguments() { return first_arguments; }

const std::vector<double>& many_arguments() {
  static const std::vector<double> list = all_arguments();
  return list;
}

}  // namespace gdr::native
