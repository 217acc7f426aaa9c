// Softened gravity and its time derivative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "gdr/device.hpp"
#include "gdr/softening.hpp"
#include "gdr/tree.hpp"

namespace gdr {

/// Accelerations, their time derivatives (jerks) and potentials of n particles on one another, G =
/// 1:
///   acc_i = sum over j != i of m_j d / r^3,   d = x_j - x_i,  v = v_j - v_i,  r^2 = d^2 + eps^2
///   jerk_i = sum over j != i of m_j (v - 3 (d.v) d / r^2) / r^3
///   pot_i = - sum over j != i of m_j / r
/// with one softening length, or one for each particle (Softening).
/// Arrays and errors are those of Gravity. Velocities are triples; every result may be null. On a
/// device of kind "mpi" every rank passes its own particles and targets, as for Gravity.
class GravityJerk {
 public:
  /// The device must outlive it.
  explicit GravityJerk(Device& device);
  ~GravityJerk();
  GravityJerk(GravityJerk&&) noexcept;
  GravityJerk& operator=(GravityJerk&&) noexcept;

  void compute(std::size_t n, Numbers<const double> position, Numbers<const double> velocity,
               Numbers<const double> mass, const Softening& eps, Numbers<double> acceleration,
               Numbers<double> jerk, Numbers<double> potential);
  /// Sums over n_sources particles at n_targets moving positions. Coincident pairs are included; at
  /// zero softening they contribute nothing. Either number may be zero.
  void compute_on(std::size_t n_targets, Numbers<const double> target,
                  Numbers<const double> target_velocity, std::size_t n_sources,
                  Numbers<const double> source, Numbers<const double> source_velocity,
                  Numbers<const double> mass, const Softening& eps, Numbers<double> acceleration,
                  Numbers<double> jerk, Numbers<double> potential);

  /// The same sums with a tree, as Gravity computes them: the accuracy is that of accelerations,
  /// and the errors of the jerks, some times larger, are in the report, too. Clusters are replaced
  /// by moving particles.
  TreeReport compute(std::size_t n, Numbers<const double> position, Numbers<const double> velocity,
                     Numbers<const double> mass, const Softening& eps, Numbers<double> acceleration,
                     Numbers<double> jerk, Numbers<double> potential, const TreeOptions& options);
  TreeReport compute_on(std::size_t n_targets, Numbers<const double> target,
                        Numbers<const double> target_velocity, std::size_t n_sources,
                        Numbers<const double> source, Numbers<const double> source_velocity,
                        Numbers<const double> mass, const Softening& eps,
                        Numbers<double> acceleration, Numbers<double> jerk,
                        Numbers<double> potential, const TreeOptions& options);

 private:
  friend class BlockTrees;
  /// The sums of all particles on some of them, given by their numbers, or on all of them without
  /// numbers, with a tree; nothing, and no result, where direct sums are faster or needed.
  std::optional<TreeReport> compute_members(std::size_t n, std::span<const std::uint32_t> members,
                                            const double* position, const double* velocity,
                                            const double* mass, const Softening& eps,
                                            const double* member_position,
                                            const double* member_velocity, double* acceleration,
                                            double* jerk, double* potential,
                                            const TreeOptions& options);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
