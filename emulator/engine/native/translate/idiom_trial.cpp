#include "emulator/engine/native/translate/idiom_trial.hpp"

#include <bit>
#include <cmath>

namespace gdr::native {
namespace {

/// Distance of x from the ends of the range, in powers of two, within which the steps of a sequence
/// leave the range, so that its value is meaningless: 1/sqrt(x) begins with a y near 2^-512, whose
/// square is zero.
constexpr unsigned margin = 4;
/// The same for the small corrections of a Newton step, without which a value is right but less
/// accurate: such points do not count for its factor.
constexpr unsigned correction_margin = 64;

/// Whether the exponent of x is within this distance of the ends of the range.
bool is_near_end(std::uint64_t x, unsigned distance) {
  const auto exponent = static_cast<unsigned>(x >> 52) & 2047;
  return exponent <= distance || exponent > last_exponent - distance;
}

/// Whether x is so near to the ends of the range that a sequence may leave it.
bool may_go_wrong(std::uint64_t x, double value, double right) {
  if (is_near_end(x, margin)) return true;
  if (std::abs(right) >= 0x1p1019) return !std::isfinite(value);
  return std::abs(right) <= 0x1p-1018 && !(std::abs(value) > 0x1p-1016);
}

}  // namespace

void IdiomTrial::try_at(const SamplePoints& points, const SampleRow& values) {
  const auto& factors = op_ == NodeOp::Rsqrt ? points.rsqrt : points.recip;
  for (std::size_t i = 0; i < row_lanes && holds_; ++i) {
    const double x = number_at(points.x, i);
    const double value = number_at(values, i);
    if (op_ == NodeOp::Rsqrt && x < 0) {
      wild_ = wild_ || (!std::isfinite(value) && std::abs(x) > 0x1p-64 && std::abs(x) < 0x1p64);
      continue;
    }
    const double ratio = value * factors[i];
    if (std::abs(ratio - scale_) <= largest_idiom_error * std::abs(scale_)) {
      if (!is_near_end(points.x[i], correction_margin)) ratios_.add(ratio);
    } else {
      holds_ = may_go_wrong(points.x[i], value, scale_ / factors[i]);
    }
  }
}

std::optional<Idiom> IdiomTrial::result(const SampleRow& special) const {
  if (!holds_ || !std::isnan(number_at(special, IdiomDomain::nan))) return std::nullopt;
  if (op_ == NodeOp::Rsqrt && !wild_) return std::nullopt;
  if (std::isfinite(number_at(special, IdiomDomain::infinity))) return std::nullopt;
  const double at_zero = number_at(special, IdiomDomain::zero);
  if (op_ == NodeOp::Recip) {
    if (std::isfinite(number_at(special, IdiomDomain::minus_infinity))) return std::nullopt;
    const double other = number_at(special, IdiomDomain::minus_zero);
    if (std::isnan(at_zero) != std::isnan(other)) return std::nullopt;
    if (!std::isnan(at_zero) && other != -at_zero) return std::nullopt;
  }
  const double spread = ratios_.spread();
  if (spread > largest_idiom_error) return std::nullopt;
  // The centre is known up to the rounding of the steps.
  const double scale = std::abs(ratios_.centre() - 1) <= spread ? 1 : ratios_.centre();
  return Idiom{op_, scale, spread, at_zero};
}

}  // namespace gdr::native
