// Softening lengths of gravity.
#pragma once

#include <concepts>
#include <type_traits>

#include "gdr/array.hpp"

namespace gdr {

class Softening;

namespace detail {

/// An array of lengths, not a number.
template <typename Array>
concept SofteningLengths =
    !std::is_arithmetic_v<Array> && !std::is_null_pointer_v<Array> &&
    !std::same_as<Array, Softening> && std::constructible_from<Numbers<const double>, const Array&>;

}  // namespace detail

/// One softening length for all pairs, or one for each particle. Then that of a pair is
///   eps_ij^2 = (eps_i^2 + eps_j^2) / 2,
/// which is the same for both particles, so that momentum is conserved, and eps if all are equal.
/// Targets other than the sources have lengths of their own, or none: eps_ij = eps_j.
class Softening {
 public:
  Softening(double eps) noexcept : one_(eps) {}
  /// A length for each source, and for each target that is not a source. The arrays are not copied.
  template <detail::SofteningLengths Array>
  Softening(const Array& sources) : each_(true), sources_(sources) {}
  template <detail::SofteningLengths Array>
  Softening(const Array& sources, Numbers<const double> targets)
      : each_(true), of_targets_(true), sources_(sources), targets_(targets) {}

  /// Whether each source has its own length.
  bool of_each() const noexcept { return each_; }
  /// The length of all pairs; 0 if each source has its own.
  double of_all() const noexcept { return one_; }
  const Numbers<const double>& sources() const noexcept { return sources_; }
  /// Whether targets that are not the sources have their own lengths.
  bool of_targets() const noexcept { return of_targets_; }
  const Numbers<const double>& targets() const noexcept { return targets_; }

 private:
  double one_ = 0;
  bool each_ = false, of_targets_ = false;
  Numbers<const double> sources_, targets_;
};

}  // namespace gdr
