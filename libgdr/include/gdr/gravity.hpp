// Softened gravity from positions and masses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gdr/device.hpp"
#include "gdr/softening.hpp"
#include "gdr/tree.hpp"

namespace gdr {

/// Accelerations and potentials of n particles on one another, G = 1:
///   acc_i = sum over j != i of m_j (x_j - x_i) / (r^2 + eps^2)^(3/2)
///   pot_i = - sum over j != i of m_j / sqrt(r^2 + eps^2)
/// with one softening length, or one for each particle (Softening: eps^2 is then the mean of both
/// squares). The interaction of a particle with itself is excluded; coincident particles at zero
/// softening do not interact. `position` and `acceleration` hold n triples, `mass` and `potential`
/// n values; either result may be null. Arrays are pointers, or vectors, spans and arrays, whose
/// sizes are checked (Numbers).
///
/// Throws Error (Input) for a NaN or an infinity, a softening that is negative, not finite or whose
/// square is out of the chip's range (2^-1022 to 2^1024), no particles, and for a result that is
/// not finite, naming the particle that is too distant or too close to another. The results have
/// been written then. Particles of one process that are nearer than 1.5e-154 without coinciding are
/// an error at zero softening, too: the square of their distance is no normal number. On native
/// engines a particle beyond 1e154 is no error: the square of its distance is infinite, and it
/// contributes zero, as in any program with doubles.
class Gravity {
 public:
  /// The device must outlive it.
  explicit Gravity(Device& device);
  ~Gravity();
  Gravity(Gravity&&) noexcept;
  Gravity& operator=(Gravity&&) noexcept;

  void compute(std::size_t n, Numbers<const double> position, Numbers<const double> mass,
               const Softening& eps, Numbers<double> acceleration, Numbers<double> potential);
  /// Forces of n_sources particles at n_targets positions. Coincident pairs are included; at zero
  /// softening they contribute nothing. Either number may be zero.
  void compute_on(std::size_t n_targets, Numbers<const double> target, std::size_t n_sources,
                  Numbers<const double> source, Numbers<const double> mass, const Softening& eps,
                  Numbers<double> acceleration, Numbers<double> potential);

  /// The same sums to an accuracy, in O(n log n) with a tree: clusters of particles far from a
  /// target are replaced by a few. Masses of either sign are possible. The accuracy is measured on
  /// a sample of targets, relative to direct sums on this device, and is in the report. Direct sums
  /// are used, with error 0, where they are faster (few particles) or needed (high accuracy, and
  /// coordinates beyond 1e150). Results do not depend on the number of threads. Takes about 500
  /// bytes for each particle, and with multipoles of high degree some 1000. `Device::interrupt`
  /// cancels it within a fraction of a second.
  ///
  /// On a device of kind "mpi" every rank passes its own particles, with the same options. All
  /// ranks get all particles and make the same tree, and each computes a share of the groups of
  /// targets: the bits do not depend on the number of ranks, and the memory is that for all
  /// particles on each of them. Times of the report are those of this rank.
  ///
  /// Throws Error (Usage) for options out of range, and Error (Input) as without a tree.
  TreeReport compute(std::size_t n, Numbers<const double> position, Numbers<const double> mass,
                     const Softening& eps, Numbers<double> acceleration, Numbers<double> potential,
                     const TreeOptions& options);
  TreeReport compute_on(std::size_t n_targets, Numbers<const double> target, std::size_t n_sources,
                        Numbers<const double> source, Numbers<const double> mass,
                        const Softening& eps, Numbers<double> acceleration,
                        Numbers<double> potential, const TreeOptions& options);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
