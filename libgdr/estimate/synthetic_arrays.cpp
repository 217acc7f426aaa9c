#include "libgdr/estimate/synthetic_arrays.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "gdr/array.hpp"

namespace gdr {
namespace {

/// The fractional parts of multiples of an irrational number: spread evenly over 0 to 1.
double spread(std::size_t k, double irrational) {
  const double product = static_cast<double>(k) * irrational;
  return product - std::floor(product);
}

}  // namespace

SyntheticArrays::SyntheticArrays(const Kernel& kernel, Role role, std::size_t n,
                                 bool omit_positions) {
  for (const KernelVariable& v : kernel.variables()) {
    if (v.role != role || (omit_positions && v.quantity == "pos")) continue;
    if (role == Role::Result || role == Role::Output)
      add_result(v, n);
    else if (!v.default_value)
      add_input(v, n);
  }
}

/// Coordinates are from -1 to 1, other numbers from 0.5 to 1.5, so that none is 0. Integers are 0,
/// the first element of a table, or the item's number where they are numbers of items.
void SyntheticArrays::add_input(const KernelVariable& v, std::size_t n) {
  const bool position = v.quantity == "pos" || v.quantity == "vel";
  // Another irrational number for each variable, so that no two have the same values.
  const double irrational =
      std::sqrt(2.0 + static_cast<double>(numbers_.size() + floats_.size()) / 7);
  const auto value = [&](std::size_t k) {
    const double share = spread(k + 1, irrational);
    return position ? 2 * share - 1 : 0.5 + share;
  };
  if (v.type == HostNumber::F64) {
    std::vector<double>& array = numbers_.emplace_back(n);
    for (std::size_t k = 0; k < n; ++k) array[k] = value(k);
    inputs_.push_back({v.name, array});
  } else if (v.type == HostNumber::F32) {
    std::vector<float>& array = floats_.emplace_back(n);
    for (std::size_t k = 0; k < n; ++k) array[k] = static_cast<float>(value(k));
    inputs_.push_back({v.name, array});
  } else {
    const bool counted = v.quantity == "id" || v.quantity == "index";
    std::vector<std::int64_t>& array = integers_.emplace_back(n * (v.host_bytes / 8));
    for (std::size_t k = 0; k < n && counted; ++k) array[k] = static_cast<std::int64_t>(k);
    inputs_.push_back({v.name, array});
  }
}

void SyntheticArrays::add_result(const KernelVariable& v, std::size_t n) {
  if (v.type == HostNumber::F64)
    results_.push_back({v.name, numbers_.emplace_back(n)});
  else if (v.type == HostNumber::F32)
    results_.push_back({v.name, floats_.emplace_back(n)});
  else
    results_.push_back({v.name, integers_.emplace_back(n * (v.host_bytes / 8))});
}

std::vector<double> plummer_positions(std::size_t n) {
  // Random numbers, not `spread`: evenly spread particles are a lattice, whose forces cancel, so
  // that trees of them take several times as long.
  std::mt19937_64 random(1);
  const auto share = [&random] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<double> x(3 * n);
  for (std::size_t k = 0; k < n; ++k) {
    // The radius that encloses this share of the mass; the outermost thousandth is left out.
    const double mass = std::clamp(share(), 1e-6, 0.999);
    const double radius = 1 / std::sqrt(std::pow(mass, -2.0 / 3) - 1);
    const double z = 2 * share() - 1;
    const double angle = 2 * std::numbers::pi * share();
    const double across = std::sqrt(std::max(0.0, 1 - z * z));
    x[3 * k] = radius * across * std::cos(angle);
    x[3 * k + 1] = radius * across * std::sin(angle);
    x[3 * k + 2] = radius * z;
  }
  return x;
}

}  // namespace gdr
