// What sending and collecting have in common.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "emulator/board/hardware/dma_space.hpp"

namespace gdr::driver {

/// Lists under way at most; with what is asked for again, fewer than a board remembers of a queue.
constexpr std::size_t most_flights = 16;

inline std::uint64_t* words_at(const DmaArea& area, std::uint64_t offset) noexcept {
  return reinterpret_cast<std::uint64_t*>(area.memory + offset);
}

/// The host's steady clock.
inline double host_seconds() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Adds the time until it goes.
struct Stopwatch {
  double& seconds;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  ~Stopwatch() {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    seconds += spent.count();
  }
};

}  // namespace gdr::driver
