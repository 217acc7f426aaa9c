// Softened gravity in double on the host: hand-written loops that emulated rates are compared with.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "emulator/engine/engine.hpp"

namespace gdr::bench {

/// Particles as separate arrays, padded with massless ones to a multiple of `native_lanes`.
struct NativeParticles {
  std::size_t n = 0;  ///< padded
  std::vector<double> x, y, z, m;
};
/// Forces on them, padded likewise.
struct NativeForces {
  std::vector<double> ax, ay, az, pot;
};

/// Particles that a loop takes at once, at most.
constexpr std::size_t native_lanes = 32;

/// n positions (triples) and masses.
NativeParticles native_particles(std::size_t n, const double* position, const double* mass);

/// Forces of `n` sources on targets first .. last - 1 (both multiples of native_lanes), softened:
/// self-interaction adds nothing but -m/eps to the potential.
using NativeLoop = void (*)(const NativeParticles& particles, std::size_t first, std::size_t last,
                            double eps2, NativeForces& forces);

/// One way to write the loop.
struct NativeVariant {
  std::string_view name;
  Isa isa;
  NativeLoop loop;
};

/// The variants of an instruction set: several where it is not clear which is the fastest.
std::vector<NativeVariant> native_variants(Isa isa);

/// Run a variant over all particles with so many threads.
void native_forces(const NativeVariant& variant, const NativeParticles& particles, double eps2,
                   unsigned threads, NativeForces& forces);

void native_portable(const NativeParticles& p, std::size_t first, std::size_t last, double eps2,
                     NativeForces& forces);
/// AVX2: float estimate (12 bits) and one step of fifth order; square root and division.
void native_avx2_estimate(const NativeParticles& p, std::size_t first, std::size_t last,
                          double eps2, NativeForces& forces);
void native_avx2_divide(const NativeParticles& p, std::size_t first, std::size_t last, double eps2,
                        NativeForces& forces);
/// AVX-512: the 14-bit estimate and two Newton steps, or one step of fourth order.
void native_avx512_newton(const NativeParticles& p, std::size_t first, std::size_t last,
                          double eps2, NativeForces& forces);
void native_avx512_fourth(const NativeParticles& p, std::size_t first, std::size_t last,
                          double eps2, NativeForces& forces);

}  // namespace gdr::bench
