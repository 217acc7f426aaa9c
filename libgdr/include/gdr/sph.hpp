// Smoothed particle hydrodynamics: densities, smoothing lengths and pressure forces, in O(N).
//
//   gdr::Sph sph(device, gdr::PeriodicBox::orthorhombic({1, 1, 1}));
//   sph.smoothing_lengths({.pos = x, .mass = m}, {}, h, rho);
//   sph.forces({.pos = x, .mass = m, .h = h}, {.vel = v, .rho = rho, .pressure = p, .sound = c},
//              {.acc = a, .dudt = dudt});
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "gdr/box.hpp"
#include "gdr/device.hpp"

namespace gdr {

/// The particles of a call.
struct SphParticles {
  std::span<const double> pos;   ///< three coordinates of each, also outside of the box
  std::span<const double> mass;  ///< one of each
  std::span<const double> h;     ///< smoothing lengths: the spline ends at 2 h
};

/// Which smoothing lengths are found: h = eta (mass / rho)^(1/3), within two limits.
struct SphLengthOptions {
  double eta = 1.2;         ///< length in mean distances; 1.2 has 58 particles within 2 h
  double tolerance = 1e-3;  ///< largest relative difference of both sides
  double least = 0, most = std::numeric_limits<double>::infinity();  ///< limits of h
  unsigned iterations = 100;                                         ///< limit of their number
};

/// Properties of the gas, and constants of the artificial viscosity.
struct SphGas {
  std::span<const double> vel;                   ///< three components of each
  std::span<const double> rho, pressure, sound;  ///< density, pressure, speed of sound
  double alpha = 1, beta = 2, eta = 0.01;        ///< params of the kernel sph_force
};

/// Where forces are written; empty: not needed.
struct SphForces {
  std::span<double> acc;    ///< three components of each
  std::span<double> dudt;   ///< rates of the internal energies per mass
  std::span<double> mumax;  ///< largest approach of a pair, for the time step; 0: none
};

/// The laws of the kernels sph_density and sph_force, with the mean of both smoothing lengths of a
/// pair, in open space or a periodic box. Each target meets the sources within the sum of both
/// lengths, so that a few long lengths cost little, and lengths may differ by any factor. A call
/// takes O(N) work for a given number of neighbours. Lists of pairs are kept while particles move
/// by less than 0.025 of the shortest length and lengths grow by less than a tenth.
///
/// On a device of kind "mpi" all calls are collective: every rank passes its own particles and gets
/// their results, with the bits of one process. Box, options and constants must be equal on all.
///
/// Must be used by one thread at a time. The device must outlive it. Functions throw Error (Usage)
/// for arrays whose lengths do not belong together, and Error (Input) for values that are not
/// finite, for lengths, masses and densities that are not positive, naming the particle, and as
/// PairSum does. The results are undefined after an error.
class Sph {
 public:
  explicit Sph(Device& device, const std::optional<PeriodicBox>& box = {});
  ~Sph();
  Sph(Sph&&) noexcept;
  Sph& operator=(Sph&&) noexcept;

  void set_box(const std::optional<PeriodicBox>& box);

  /// Densities, and numbers of particles within the mean of two lengths, times two, with the
  /// particle itself; `near` may be empty.
  void density(const SphParticles& particles, std::span<double> rho,
               std::span<std::int64_t> near = {});
  /// Finds smoothing lengths and the densities that belong to them, by iteration from
  /// `particles.h`, or if that is empty from an estimate; returns the number of iterations. Throws
  /// Error (Input) naming a particle if they do not converge: where too few particles are around
  /// it, or too many at its place, and no limits are given.
  unsigned smoothing_lengths(const SphParticles& particles, const SphLengthOptions& options,
                             std::span<double> h, std::span<double> rho,
                             std::span<std::int64_t> near = {});
  /// Accelerations by pressure and artificial viscosity. Momentum and energy are conserved.
  void forces(const SphParticles& particles, const SphGas& gas, const SphForces& results);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
