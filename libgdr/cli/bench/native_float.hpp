// Softened gravity in float on the host: what the native engine's float code is compared with.
#pragma once

#include <string_view>

#include "emulator/engine/engine.hpp"
#include "libgdr/cli/bench/native.hpp"

namespace gdr::bench {

/// Particles in single precision, padded as NativeParticles are.
struct FloatParticles {
  std::size_t n = 0;
  std::vector<float> x, y, z, m;
  explicit FloatParticles(const NativeParticles& particles);
};
struct FloatForces {
  std::vector<float> ax, ay, az, pot;
};

/// As NativeLoop: the host's estimate of 1 / sqrt and one Newton step (portable: the library's).
using FloatLoop = void (*)(const FloatParticles& particles, std::size_t first, std::size_t last,
                           float eps2, FloatForces& forces);
FloatLoop float_loop(Isa isa) noexcept;

void float_forces(FloatLoop loop, const FloatParticles& particles, float eps2, unsigned threads,
                  FloatForces& forces);

}  // namespace gdr::bench
