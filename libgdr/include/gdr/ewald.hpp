// Ewald sums: energies, forces and virial of point charges in a periodic box.
//
//   gdr::Ewald ewald(device);
//   const gdr::EwaldResult r = ewald.run({.pos = x, .charge = q,
//                                         .box = gdr::PeriodicBox::orthorhombic({20, 20, 20}),
//                                         .force = forces});
//   r.energy;
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "gdr/box.hpp"
#include "gdr/device.hpp"

namespace gdr {

/// How exact a sum is, and how it is divided into its two parts. What is 0 is chosen: the division
/// that takes the least time for this accuracy.
struct EwaldOptions {
  /// Root mean square of the errors of forces relative to the force of two charges of the mean
  /// square at the mean distance, (volume / n)^(1/3); of the energies of particles relative to the
  /// energy of that pair. By the estimates of Kolafa and Perram 1992 (Mol. Simul. 9, 351) for
  /// disordered charges; those of crystals may be several times larger.
  double accuracy = 1e-5;
  double alpha = 0;        ///< splitting parameter, an inverse length
  double cutoff = 0;       ///< radius of the part in real space, a length
  double wave_cutoff = 0;  ///< radius of the wave vectors, an inverse length
};

/// The charges of a run.
struct EwaldCall {
  std::span<const double> pos;     ///< three coordinates of each, also outside of the box
  std::span<const double> charge;  ///< one of each
  PeriodicBox box;                 ///< box of three periodic directions
  EwaldOptions options = {};
  std::span<double> force = {};   ///< three components of each; empty: not needed
  std::span<double> energy = {};  ///< energy of each, whose sum is the total; empty: not needed
};

/// The result of a run, and how it was computed.
struct EwaldResult {
  double energy = 0;  ///< energy of the box
  /// W_ab = - dE / d epsilon_ab for a strain epsilon of box and positions, in rows: the sum of
  /// x_a F_b over all pairs. Its trace is the energy; the pressure of the charges is trace / (3 V).
  std::array<double, 9> virial{};
  double alpha = 0, cutoff = 0, wave_cutoff = 0;  ///< numbers of EwaldOptions
  std::size_t waves = 0;  ///< number of wave vectors, of each pair k, -k one
  double error = 0;       ///< estimate of the error as in EwaldOptions::accuracy
};

/// Sums of point charges over all periodic images, in Gaussian units (1 / (4 pi epsilon_0) = 1):
///
///   E = 1/2 sum over i, j, images of q_i q_j / |x_i - x_j + image|, no charge with itself
///
/// with a conductor around the crystal ("tinfoil"). A box with a total charge has a uniform
/// background that neutralises it; its energy is in the sum. Ewald 1921, Ann. Phys. 369, 253.
///
/// The part in real space is a PairSum, that over wave vectors two jobs on the device, which
/// compute in longs: relative errors are below 1e-11 on exact engines and `native`, some 1e-6 of
/// those among floats, whatever the accuracy asked for. Takes O(n^(3/2)) time. Results depend
/// neither on threads nor on boards; the last bits may depend on the runs before, whose lists are
/// used again.
///
/// On a device of kind "mpi" all calls are collective: every rank passes its own charges, and gets
/// their forces and energies, and the energy and virial of all charges, with the bits of one
/// process. Box and options must be equal on all.
///
/// Must be used by one thread at a time. The device must outlive it.
class Ewald {
 public:
  explicit Ewald(Device& device);
  ~Ewald();
  Ewald(Ewald&&) noexcept;
  Ewald& operator=(Ewald&&) noexcept;

  /// Compute. Throws Error (Usage) for arrays whose lengths do not belong together, and Error
  /// (Input) for values that are not finite, with their index; for a box with a direction that does
  /// not repeat, vectors that are zero or in one plane; for options out of range or more than 1e8
  /// wave vectors; and for two charges at one place, naming them (on ranks by their numbers through
  /// all ranks).
  EwaldResult run(const EwaldCall& call);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
