// Checksum of a matrix, to detect changes between calls.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace gdr::compat {

/// 64-bit checksum of all elements (rows x columns as stored) and their order, at the speed of
/// memory. Every step mixes a word into a lane by a bijection, so that a change of one element is
/// always detected; other changes are missed with probability 2^-64.
class Checksum {
 public:
  Checksum(const double* data, std::size_t rows, std::size_t columns, std::size_t stride) noexcept {
    for (std::size_t c = 0; c < columns; ++c) {
      const double* const column = data + c * stride;
      std::size_t r = 0;
      for (; r + lanes.size() <= rows; r += lanes.size())  // independent chains
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) add(lanes[lane], column[r + lane]);
      for (; r < rows; ++r) add(lanes[0], column[r]);
    }
  }

  std::uint64_t value() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t lane : lanes) mix(all, lane);
    return all;
  }

 private:
  static void mix(std::uint64_t& hash, std::uint64_t word) noexcept {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;  // 2^64 over the golden ratio, odd
    hash ^= hash >> 32;                          // carries of products go upwards only
  }
  static void add(std::uint64_t& hash, double x) noexcept {
    mix(hash, std::bit_cast<std::uint64_t>(x));
  }

  std::array<std::uint64_t, 4> lanes{1, 2, 3, 4};
};

}  // namespace gdr::compat
