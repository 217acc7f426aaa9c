// Softened gravity with its time derivative in double on the host: hand-written loops that emulated
// rates of gravity_jerk_long are compared with.
#pragma once

#include <array>
#include <vector>

#include "libgdr/cli/bench/native.hpp"

namespace gdr::bench {

/// Particles and what the loop sums up for them, as separate arrays of the same padded length.
struct JerkParticles {
  NativeParticles at;
  std::array<std::vector<double>, 3> velocity;
  /// ax, ay, az, jx, jy, jz, pot
  std::array<std::vector<double>, 7> sums;
};

/// Sums of all sources on targets first .. last - 1 (both multiples of native_lanes).
using JerkLoop = void (*)(JerkParticles& particles, std::size_t first, std::size_t last,
                          double eps2);

/// With 1, 2 and 4 vectors side by side; empty where there are no vectors.
std::vector<JerkLoop> jerk_loops(Isa isa);

/// Run a loop over all particles with so many threads.
void jerk_forces(JerkLoop loop, JerkParticles& particles, double eps2, unsigned threads);

}  // namespace gdr::bench
