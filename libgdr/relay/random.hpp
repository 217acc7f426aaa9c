// Random numbers that depend on a seed and a position only, so that a run can be repeated.
#pragma once

#include <cstdint>

namespace gdr::relay {

/// Mixes the bits of a word: the output function of splitmix64 (Steele, Lea and Flood, OOPSLA
/// 2014).
constexpr std::uint64_t mix(std::uint64_t word) noexcept {
  word += 0x9e3779b97f4a7c15;
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
  word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
  return word ^ (word >> 31);
}

/// Number `index` of the random sequence `sequence` of a seed, uniform in [0, 1).
constexpr double uniform(std::uint64_t seed, std::uint64_t sequence, std::uint64_t index) noexcept {
  return static_cast<double>(mix(mix(mix(seed) + sequence) + index) >> 11) * 0x1p-53;
}

/// The random sequences of a run: one for the losses of each direction, and those of the cuts.
enum Sequence : std::uint64_t { LossToServer, LossToClient, CutTimes, CutBytes };

}  // namespace gdr::relay
