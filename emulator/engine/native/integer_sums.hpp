// Bounds of sums of integers.
#pragma once

#include <cstdint>
#include <optional>

#include "emulator/engine/native/kernel.hpp"

namespace gdr::native {

/// By how much an integer of a kernel differs at most from one of its inputs, which has the number
/// `input`: after `n += a < b ? 1 : 0` by one. None if terms of any size are added, or if it is not
/// a sum with that input.
std::optional<std::uint64_t> largest_change(const Kernel& kernel, Ref integer, std::uint32_t input);

}  // namespace gdr::native
