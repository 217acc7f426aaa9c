// The range of the sizes of numbers.
#pragma once

#include <limits>
#include <span>

namespace gdr::tree {

/// Extremes of absolute values. Of no numbers, and of zeros, `least` is infinite and `most` is 0.
struct SizeRange {
  double least = std::numeric_limits<double>::infinity();  ///< smallest one above 0
  double most = 0;
};

/// Numbers that are not a number are left out.
SizeRange size_range(std::span<const double> numbers, unsigned threads);

}  // namespace gdr::tree
