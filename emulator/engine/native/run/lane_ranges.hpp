// The ranges of source words that are compared with targets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/engine/native/program/program.hpp"

namespace gdr::native {

/// Bytes behind the last lanes that `find_ranges` may read.
constexpr std::size_t bytes_behind_lanes = 32;

/// Computes the ranges of a window of `count` groups; `groups` are the lanes of all of them.
void find_ranges(const CompiledSection& body, const std::byte* groups, std::uint64_t count,
                 std::uint64_t window, SourceWindows& windows);

}  // namespace gdr::native
