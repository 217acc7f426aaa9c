// Softened gravity from positions and masses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gdr/device.hpp"

namespace gdr {

/// Accelerations and potentials of n particles on one another, G = 1:
///   acc_i = sum over j != i of m_j (x_j - x_i) / (r^2 + eps^2)^(3/2)
///   pot_i = - sum over j != i of m_j / sqrt(r^2 + eps^2)
/// The interaction of a particle with itself is excluded; coincident particles at zero softening do
/// not interact. `position` and `acceleration` hold n triples, `mass` and `potential` n values;
/// either result may be null. Arrays are pointers, or vectors, spans and arrays, whose sizes are
/// checked (Numbers).
///
/// Throws Error (Input) for a NaN or an infinity, a softening that is negative, not finite or whose
/// square is out of the chip's range (2^-1022 to 2^1024), no particles, and for a result that is
/// not finite, naming the particle that is too distant or too close to another. The results have
/// been written then. On native engines a particle beyond 1e154 is no error: the square of its
/// distance is infinite, and it contributes zero, as in any program with doubles.
class Gravity {
 public:
  /// The device must outlive it.
  explicit Gravity(Device& device);
  ~Gravity();
  Gravity(Gravity&&) noexcept;
  Gravity& operator=(Gravity&&) noexcept;

  void compute(std::size_t n, Numbers<const double> position, Numbers<const double> mass,
               double eps, Numbers<double> acceleration, Numbers<double> potential);
  /// Forces of n_sources particles at n_targets positions. Coincident pairs are included; at zero
  /// softening they contribute nothing. Either number may be zero.
  void compute_on(std::size_t n_targets, Numbers<const double> target, std::size_t n_sources,
                  Numbers<const double> source, Numbers<const double> mass, double eps,
                  Numbers<double> acceleration, Numbers<double> potential);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
