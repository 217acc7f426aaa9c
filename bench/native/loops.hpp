// The native loops by instruction set: plain data only, as the files behind it are compiled for
// instruction sets that the host may lack and must not share functions with others.
#pragma once

#include <cstddef>

namespace gdr::bench {

/// Input and output of a loop over n sources, as separate arrays of the same padded length.
template <typename Real>
struct LoopArrays {
  std::size_t n = 0;
  const Real* coordinate[6] = {};  ///< x, y, z, vx, vy, vz; velocities for jerk only
  const Real* mass = nullptr;
  Real* sum[7] = {};  ///< ax, ay, az, potential; or ax, ay, az, jx, jy, jz, potential
};

/// Sums over all sources for targets first .. last - 1 (both multiples of `padding`), softened. The
/// interaction of a particle with itself adds -m / eps to its potential, and nothing else.
template <typename Real>
using Loop = void (*)(const LoopArrays<Real>& arrays, std::size_t first, std::size_t last,
                      Real eps2);

/// A force law as a table: the factor of a distance is interpolated between elements k and k + 1,
/// with k + r = r2 * scale, limited to `last`.
template <typename Real>
struct ForceTable {
  const Real* values = nullptr;
  Real scale = 0, last = 0;
};
/// As Loop, for accelerations by a table.
template <typename Real>
using TableLoop = void (*)(const LoopArrays<Real>& arrays, const ForceTable<Real>& table,
                           std::size_t first, std::size_t last);

/// Input and output of a loop in mixed precision: positions as doubles and as pairs of floats
/// (high + rest), the others as floats, sums as doubles.
struct MixedArrays {
  std::size_t n = 0;
  const double* position[3] = {};
  const float *high[3] = {}, *rest[3] = {}, *velocity[3] = {};
  const float* mass = nullptr;
  double* sum[7] = {};  ///< ax, ay, az, jx, jy, jz, potential
};
using MixedLoop = void (*)(const MixedArrays& arrays, std::size_t first, std::size_t last,
                           float eps2);
struct NamedMixedLoop {
  const char* name = nullptr;
  MixedLoop loop = nullptr;
};

/// A loop and how it computes the reciprocal square root.
template <typename Real>
struct NamedLoop {
  const char* name = nullptr;
  Loop<Real> loop = nullptr;
};

/// The loops of one instruction set. Several for the same purpose differ in speed from host to
/// host; entries without a loop are unused.
struct LoopSet {
  NamedLoop<double> gravity[2];
  NamedLoop<double> jerk[3];
  NamedLoop<float> gravity_float;
  NamedLoop<float> gravity_fast;  ///< loop with an unrefined estimate of 14 bits
  NamedMixedLoop jerk_mixed[4];
  /// With one, two and four vectors of targets side by side.
  TableLoop<double> table[3];
  TableLoop<float> table_float[3];
};

/// Particles that a loop takes at once, at most: arrays are padded to a multiple of it.
constexpr std::size_t padding = 32;

extern const LoopSet portable_loops;
#if defined(__x86_64__)
extern const LoopSet avx2_loops;
extern const LoopSet avx512_loops;
#elif defined(__aarch64__)
extern const LoopSet neon_loops;
#endif

}  // namespace gdr::bench
