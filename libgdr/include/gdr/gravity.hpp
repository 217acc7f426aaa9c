// Softened gravity from positions and masses: the library's first ready-made job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gdr/device.hpp"

namespace gdr {

/// Accelerations and potentials of n particles on one another, G = 1:
///   acc_i = sum over j != i of m_j (x_j - x_i) / (r^2 + eps^2)^(3/2)
///   pot_i = - sum over j != i of m_j / sqrt(r^2 + eps^2)
/// A particle does not act on itself; two at the same place at zero softening do not act on each
/// other. `position` and `acceleration` hold n triples, `mass` and `potential` n values; either of
/// the results may be null where it is not wanted.
///
/// Throws Error (Input) for a NaN or an infinity, a softening that is negative, not finite or whose
/// square leaves the range of the chip's numbers (2^-1022 to 2^1024), no particles, and for a
/// result that is not finite, naming the particle that stands too far out, or else the one that
/// stands too close to another. The other results have been written then.
class Gravity {
 public:
  /// The device must outlive it.
  explicit Gravity(Device& device);
  ~Gravity();
  Gravity(Gravity&&) noexcept;
  Gravity& operator=(Gravity&&) noexcept;

  void compute(std::size_t n, const double* position, const double* mass, double eps,
               double* acceleration, double* potential);
  /// Forces of n_sources particles on n_targets other places: a pair at the same place counts, at
  /// zero softening it contributes nothing. Either number may be zero.
  void compute_on(std::size_t n_targets, const double* target, std::size_t n_sources,
                  const double* source, const double* mass, double eps, double* acceleration,
                  double* potential);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gdr
