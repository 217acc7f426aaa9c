// Bounds of sums of integers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "emulator/engine/native/translate/kernel.hpp"

namespace gdr::native {

/// A bound of an integer's magnitude: `constant`, and `factor` times the largest magnitude of the
/// integers of a pass's targets and sources.
struct IntegerBound {
  std::uint64_t constant = 0, factor = 0;
};

/// Bounds of the integers that a section reads: of its Input and Source leaves. None where it is
/// not known.
using LeafBound = std::function<std::optional<IntegerBound>(const Node& leaf)>;

/// By how much an integer of a kernel differs at most from one of its inputs, which has the number
/// `input`: after `n += a < b ? 1 : 0` by one. None if terms of any size are added, or if it is not
/// a sum with that input.
std::optional<IntegerBound> largest_change(const Kernel& kernel, Ref integer, std::uint32_t input,
                                           const LeafBound& of_leaf);

/// The largest magnitude of an integer of a kernel; none if it is not known.
std::optional<IntegerBound> largest_magnitude(const Kernel& kernel, Ref integer,
                                              const LeafBound& of_leaf);

}  // namespace gdr::native
