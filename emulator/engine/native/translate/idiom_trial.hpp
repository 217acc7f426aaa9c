// Whether a value is a reciprocal or a reciprocal root.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "emulator/engine/native/translate/idiom_domain.hpp"

namespace gdr::native {

/// value = scale / sqrt(x) or scale / x.
struct Idiom {
  NodeOp op = NodeOp::Recip;  ///< Rsqrt or Recip
  double scale = 1;
  double error = 0;    ///< largest relative deviation
  double at_zero = 0;  ///< value at +0; Recip: at -0 it has the other sign
};

/// Largest relative deviation of a value that is an idiom.
constexpr double largest_idiom_error = 1e-3;

/// The interval of a nearly constant quantity.
struct NearConstant {
  double min = INFINITY, max = -INFINITY;
  void add(double value) {
    min = std::min(min, value);
    max = std::max(max, value);
  }
  double centre() const { return (min + max) / 2; }
  /// Relative; infinite if a value is NaN or infinite.
  double spread() const {
    const double spread = (max - min) / 2 / std::abs(centre());
    return spread >= 0 ? spread : INFINITY;
  }
};

/// A node that may be an idiom, while its values are compared.
class IdiomTrial {
 public:
  IdiomTrial(NodeOp op, std::uint32_t node, double scale) : node_(node), op_(op), scale_(scale) {}

  std::uint32_t node() const { return node_; }
  NodeOp op() const { return op_; }

  void try_at(const SamplePoints& points, const SampleRow& values);
  /// The idiom, if no value differs. `special`: values at the special points.
  std::optional<Idiom> result(const SampleRow& special) const;

 private:
  std::uint32_t node_;
  NodeOp op_;
  double scale_;
  NearConstant ratios_;  ///< ratios of values to those of the idiom with scale 1
  bool holds_ = true;
  bool wild_ = false;  ///< whether a value for a negative x is not finite
};

}  // namespace gdr::native
