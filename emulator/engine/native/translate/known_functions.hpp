// Functions that values are compared with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/engine/native/translate/graph.hpp"

namespace gdr::native {

constexpr std::uint8_t code_of(Function f) { return static_cast<std::uint8_t>(f); }
constexpr std::uint8_t code_of(Towards t) { return static_cast<std::uint8_t>(t); }

/// A function of one number that a value may be.
struct KnownFunction {
  NodeOp op;
  std::uint8_t detail;
  double (*value)(double);
  double largest;  ///< argument up to which values are compared
  double scale;    ///< size below which errors are relative to it
};

std::span<const KnownFunction> known_functions();

/// Whether values agree to half of a short's bits or so, where the right one is a number that
/// programs can represent with some room for their steps.
bool values_agree(double value, double right, double scale);

/// Arguments at which a value is compared first, and those at which a function must hold.
std::span<const double> few_arguments();
const std::vector<double>& many_arguments();

}  // namespace gdr::native
