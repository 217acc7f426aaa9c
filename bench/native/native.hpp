// Gravity on the host by hand-written loops: the yardstick for the rates of the engines.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "bench/native/loops.hpp"
#include "emulator/engine/api/engine.hpp"

namespace gdr::bench {

/// Particles and the sums of a loop, padded with massless particles to a multiple of `padding`.
template <typename Real>
struct NativeParticles {
  std::size_t n = 0;                              ///< padded
  std::array<std::vector<Real>, 6> coordinate{};  ///< x, y, z, vx, vy, vz
  std::vector<Real> mass{};
  std::array<std::vector<Real>, 7> sum{};  ///< sums in the order of LoopArrays

  /// From n positions (triples) and masses. Positions serve as velocities, too: vx is y, vy is z,
  /// vz is x.
  NativeParticles(std::size_t count, const double* position, const double* particle_mass);
};

/// The same for loops in mixed precision, with sums in double.
struct MixedParticles {
  std::size_t n = 0;
  std::array<std::vector<double>, 3> position{};
  std::array<std::vector<float>, 3> high{}, rest{}, velocity{};
  std::vector<float> mass{};
  std::array<std::vector<double>, 7> sum{};

  MixedParticles(std::size_t count, const double* positions, const double* particle_mass);
};

/// The loops of an instruction set; those of no vectors where it has none.
const LoopSet& native_loops(Isa isa) noexcept;

/// The fastest loops are found by trying: all loops of a list in `LoopSet` that exist.
template <typename Real, std::size_t n>
std::span<const NamedLoop<Real>> existing(const NamedLoop<Real> (&loops)[n]) noexcept {
  std::size_t count = 0;
  while (count < n && loops[count].loop != nullptr) ++count;
  return {loops, count};
}

inline std::span<const NamedMixedLoop> existing(const NamedMixedLoop (&loops)[4]) noexcept {
  std::size_t count = 0;
  while (count < 4 && loops[count].loop != nullptr) ++count;
  return {loops, count};
}

/// Run a loop over all particles with so many threads.
template <typename Real>
void run_native(Loop<Real> loop, NativeParticles<Real>& particles, double eps2, unsigned threads);

/// The same by a table.
template <typename Real>
void run_native(TableLoop<Real> loop, NativeParticles<Real>& particles,
                const ForceTable<Real>& table, unsigned threads);

void run_native(MixedLoop loop, MixedParticles& particles, double eps2, unsigned threads);

extern template struct NativeParticles<double>;
extern template struct NativeParticles<float>;
extern template void run_native(Loop<double>, NativeParticles<double>&, double, unsigned);
extern template void run_native(Loop<float>, NativeParticles<float>&, double, unsigned);
extern template void run_native(TableLoop<double>, NativeParticles<double>&,
                                const ForceTable<double>&, unsigned);
extern template void run_native(TableLoop<float>, NativeParticles<float>&, const ForceTable<float>&,
                                unsigned);

}  // namespace gdr::bench
