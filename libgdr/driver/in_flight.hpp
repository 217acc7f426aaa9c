// Shared by submission and completion of command lists.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/board/hardware/dma_space.hpp"

namespace gdr::driver {

/// Maximum number of lists in flight. Together with Resend descriptors it stays below the number
/// of completions that a board retains per queue.
constexpr std::size_t max_lists_in_flight = 16;

inline std::uint64_t* words_at(const DmaArea& area, std::uint64_t offset) noexcept {
  return reinterpret_cast<std::uint64_t*>(area.memory + offset);
}

}  // namespace gdr::driver
