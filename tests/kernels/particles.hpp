// Particles for the tests of the gravity kernel, their forces by direct summation, and those of the
// kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gdr/gdr.hpp"

namespace kernel_test {

/// Positions, masses and ids, in separate arrays.
struct Particles {
  std::vector<double> x, y, z, m;
  std::vector<std::int64_t> id;

  std::size_t size() const { return x.size(); }
  /// Adds a particle with the next free id, counted from 0.
  void add(double px, double py, double pz, double mass);
  /// The first n particles.
  Particles first(std::size_t n) const;
};

/// Accelerations and potentials.
struct Forces {
  std::vector<double> ax, ay, az, pot;
  explicit Forces(std::size_t n) : ax(n), ay(n), az(n), pot(n) {}
  bool operator==(const Forces&) const = default;
};

/// n particles of a Plummer sphere (G = M = 1, scale radius 1) from a fixed seed; masses spread
/// evenly in the logarithm from 1 to mass_ratio, and scaled to a sum of one.
Particles plummer(std::size_t n, double mass_ratio = 1, unsigned seed = 1);

/// Direct sum in long double. Pairs with equal ids and those with r^2 + eps2 = 0 are left out.
Forces direct_sum(const Particles& targets, const Particles& sources, double eps2);

/// The same by the kernel of the library. `device` is a name for gdr::Device::open.
Forces run_kernel(const std::string& device, const Particles& targets, const Particles& sources,
                  double eps2);
/// On a device that is already open.
Forces run_kernel(gdr::Device& device, const Particles& targets, const Particles& sources,
                  double eps2);

/// Relative errors: of an acceleration, the length of the difference over the length.
struct Errors {
  double rms = 0, largest = 0;  ///< accelerations
  double potential_rms = 0, potential_largest = 0;
};
Errors compare(const Forces& got, const Forces& expected);

}  // namespace kernel_test
