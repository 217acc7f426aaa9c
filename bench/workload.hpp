// Inputs of the benchmarks, the same on every host for the same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gdr::bench {

/// Random numbers with a fixed definition (SplitMix64): the standard library's distributions differ
/// from one implementation to another.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() noexcept;
  /// Uniform in (0, 1).
  double uniform() noexcept;
  /// Uniform in 0 .. n - 1.
  std::uint64_t below(std::uint64_t n) noexcept { return bits() % n; }

 private:
  std::uint64_t state_;
};

/// Positions (triples) and masses of a Plummer sphere in N-body units, G = M = 1, scale 3 pi / 16.
struct Sphere {
  std::vector<double> position, mass;
  std::size_t size() const noexcept { return mass.size(); }
};
Sphere plummer_sphere(std::size_t n, std::uint64_t seed);

/// Assembly text with `lines` lines of instructions of all kinds in its loop body, which assembles
/// without stalls.
std::string assembly_text(std::size_t lines, std::uint64_t seed);

/// Lines for `gdr fp`: all operations and formats, operands with random bits.
std::string fp_text(std::size_t lines, std::uint64_t seed);

}  // namespace gdr::bench
